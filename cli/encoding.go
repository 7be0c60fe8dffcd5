package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// encodeLine returns m as proto3 JSON on one line, without its line feed.
// protojson varies its white space on purpose, hence the second pass.
func encodeLine(m proto.Message) ([]byte, error) {
	raw, err := protojson.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return out.Bytes(), nil
}

// encodeIndented returns m as proto3 JSON for reading.
func encodeIndented(m proto.Message) ([]byte, error) {
	line, err := encodeLine(m)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, line, "", "  "); err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return out.Bytes(), nil
}

// encodeYAML returns m's proto3 JSON as YAML, fields in the order of the message.
func encodeYAML(m proto.Message) ([]byte, error) {
	tree, err := orderedTree(m)
	if err != nil {
		return nil, err
	}
	return marshalTree(tree)
}

// orderedTree is m's proto3 JSON as yaml.MapSlices, which keep the fields' order.
func orderedTree(m proto.Message) (any, error) {
	line, err := encodeLine(m)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	tree, err := readTree(decoder)
	if err != nil {
		return nil, fmt.Errorf("encode %s as YAML: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return tree, nil
}

func readTree(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return readList(decoder)
		}
		return readMap(decoder)
	case json.Number:
		if n, err := token.Int64(); err == nil {
			return n, nil
		}
		return token.Float64()
	case string:
		return yamlString(token), nil
	default:
		return token, nil
	}
}

func readMap(decoder *json.Decoder) (yaml.MapSlice, error) {
	tree := yaml.MapSlice{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		value, err := readTree(decoder)
		if err != nil {
			return nil, err
		}
		tree = append(tree, yaml.MapItem{Key: key, Value: value})
	}
	_, err := decoder.Token()
	return tree, err
}

func readList(decoder *json.Decoder) ([]any, error) {
	tree := []any{}
	for decoder.More() {
		value, err := readTree(decoder)
		if err != nil {
			return nil, err
		}
		tree = append(tree, value)
	}
	_, err := decoder.Token()
	return tree, err
}

func marshalTree(tree any, options ...yaml.EncodeOption) ([]byte, error) {
	out, err := yaml.MarshalWithOptions(tree, append(options, yaml.IndentSequence(true))...)
	if err != nil {
		return nil, fmt.Errorf("encode YAML: %w", err)
	}
	return bytes.TrimRight(out, "\n"), nil
}

// quoted is a string that is written in double quotes. goccy/go-yaml writes other
// strings so that not all of them can be read back: it loses line feeds at the end.
type quoted string

// MarshalYAML writes a JSON string, which is a YAML string too.
func (q quoted) MarshalYAML() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(string(q))
	return bytes.TrimSpace(out.Bytes()), err
}

// plain are the strings whose encoding by goccy/go-yaml is beyond doubt.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@/+][A-Za-z0-9_@/+.:=?&~-]*$`)

func yamlString(text string) any {
	if plain.MatchString(text) {
		return text
	}
	return quoted(text)
}
