package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// withoutPath is a file's error for places that name the file themselves.
func withoutPath(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	return err
}

// document is one ScheduledAction of a file, or why it is none.
type document struct {
	// source names the file, and the document within it where there are more.
	source string
	action *gnomonv1.ScheduledAction
	err    error
}

// readOne reads a file that must hold exactly one action.
func readOne(cmd *cobra.Command, name string) (*gnomonv1.ScheduledAction, error) {
	documents, err := readDocuments(cmd, name)
	if err != nil {
		return nil, subjectError{name, err}
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("%s must hold exactly one action, it holds %d; 'gnomon action apply' takes many", name, len(documents))
	}
	if documents[0].err != nil {
		return nil, subjectError{documents[0].source, documents[0].err}
	}
	return documents[0].action, nil
}

// readDocuments reads the actions of a file ('-' for stdin): YAML of one or more
// documents, or JSON objects one after another, in proto3 JSON names. A list of
// actions, or what `gnomon action list` prints, counts as its members.
func readDocuments(cmd *cobra.Command, name string) ([]document, error) {
	content, err := readFileOrStdin(cmd, name)
	if err != nil {
		return nil, withoutPath(err)
	}
	trees, err := decodeTrees(name, content)
	if err != nil {
		return nil, err
	}
	var members []any
	for _, tree := range trees {
		members = append(members, membersOf(tree)...)
	}
	documents := make([]document, len(members))
	for i, member := range members {
		source := name
		if len(members) > 1 {
			source = fmt.Sprintf("%s, document %d", name, i+1)
		}
		action, err := actionOf(member)
		documents[i] = document{source: source, action: action, err: err}
	}
	return documents, nil
}

func decodeTrees(name string, content []byte) ([]any, error) {
	decode := decodeYAML
	if isJSON(name, content) {
		decode = decodeJSON
	}
	return decode(bytes.NewReader(content))
}

// isJSON goes by the name's ending and, without a telling one, by the first byte.
func isJSON(name string, content []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".jsonl":
		return true
	case ".yaml", ".yml":
		return false
	default:
		start := bytes.TrimLeft(content, " \t\r\n")
		return len(start) > 0 && (start[0] == '{' || start[0] == '[')
	}
}

func decodeJSON(r io.Reader) ([]any, error) {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	return decodeAll(decoder.Decode)
}

func decodeYAML(r io.Reader) ([]any, error) {
	trees, err := decodeAll(yaml.NewDecoder(r).Decode)
	if syntax := yaml.Error(nil); errors.As(err, &syntax) {
		// The error itself is a drawing of several lines.
		err = errors.New(syntax.FormatError(false, false))
	}
	return trees, err
}

// decodeAll leaves out empty documents.
func decodeAll(decode func(any) error) ([]any, error) {
	var trees []any
	for {
		var tree any
		err := decode(&tree)
		if errors.Is(err, io.EOF) {
			return trees, nil
		}
		if err != nil {
			return nil, err
		}
		if tree != nil {
			trees = append(trees, tree)
		}
	}
}

func membersOf(tree any) []any {
	switch tree := tree.(type) {
	case []any:
		return tree
	case map[string]any:
		if actions, ok := tree["actions"].([]any); ok {
			return actions
		}
	}
	return []any{tree}
}

func actionOf(tree any) (*gnomonv1.ScheduledAction, error) {
	if _, ok := tree.(map[string]any); !ok {
		return nil, errors.New("must be an action with the fields meta and spec")
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	action := &gnomonv1.ScheduledAction{}
	if err := protojson.Unmarshal(raw, action); err != nil {
		return nil, errors.New(protoPosition.ReplaceAllString(err.Error(), ""))
	}
	return action, nil
}

// protoPosition is where protojson saw an error: a place in the JSON made here,
// which the person who wrote the file has never seen. The space is a no-break
// space in some builds.
var protoPosition = regexp.MustCompile(`^proto:[\s\x{00a0}]*(\(line \d+:\d+\):[\s\x{00a0}]*)?`)
