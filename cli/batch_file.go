package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
	"gnomon/batch/zonefile"
)

// readBatch reads a file ('-' for stdin) that holds one batch in proto3 JSON names, as
// YAML or JSON. What is gnomon's to say is left out, so that the output of 'gnomon batch
// get' can be submitted under another id.
func readBatch(cmd *cobra.Command, name string) (*gnomonv1.Batch, error) {
	content, err := readFileOrStdin(cmd, name)
	if err != nil {
		return nil, subjectError{name, withoutPath(err)}
	}
	trees, err := decodeTrees(name, content)
	if err != nil {
		return nil, subjectError{name, err}
	}
	if len(trees) != 1 {
		return nil, fmt.Errorf("%s must hold exactly one batch, it holds %d", name, len(trees))
	}
	if _, ok := trees[0].(map[string]any); !ok {
		return nil, subjectError{name, errors.New("must be a batch with the fields scheduledAt and changes; files of DNS changes are for --zone-file")}
	}
	raw, err := json.Marshal(trees[0])
	if err != nil {
		return nil, subjectError{name, err}
	}
	b := &gnomonv1.Batch{}
	if err := protojson.Unmarshal(raw, b); err != nil {
		return nil, subjectError{name, errors.New(protoPosition.ReplaceAllString(err.Error(), ""))}
	}
	return batch.Contents(b), nil
}

// readZoneFile reads the changes of a file ('-' for stdin) in the style of a zone file.
// The error has a line for each mistake.
func readZoneFile(cmd *cobra.Command, name string) ([]*gnomonv1.Change, error) {
	content, err := readFileOrStdin(cmd, name)
	if err != nil {
		return nil, subjectError{name, withoutPath(err)}
	}
	records, err := zonefile.Parse(name, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	changes := make([]*gnomonv1.Change, len(records))
	for i, record := range records {
		changes[i] = &gnomonv1.Change{Change: &gnomonv1.Change_DnsRecord{DnsRecord: record}}
	}
	return changes, nil
}
