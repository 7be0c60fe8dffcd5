package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// readPlaybook reads a file ('-' for stdin) that holds one playbook in proto3 JSON names,
// as YAML or JSON. What is gnomon's to say is left out, so that the output of 'gnomon
// playbook get' can be run again under another id.
func readPlaybook(cmd *cobra.Command, name string) (*gnomonv1.Playbook, error) {
	content, err := readFileOrStdin(cmd, name)
	if err != nil {
		return nil, subjectError{name, withoutPath(err)}
	}
	trees, err := decodeTrees(name, content)
	if err != nil {
		return nil, subjectError{name, err}
	}
	if len(trees) != 1 {
		return nil, fmt.Errorf("%s must hold exactly one playbook, it holds %d", name, len(trees))
	}
	p, err := playbookOf(trees[0])
	if err != nil {
		return nil, subjectError{name, err}
	}
	return definition(p), nil
}

func playbookOf(tree any) (*gnomonv1.Playbook, error) {
	if _, ok := tree.(map[string]any); !ok {
		return nil, errors.New("must be a playbook with the fields id, cluster and stages")
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	p := &gnomonv1.Playbook{}
	if err := protojson.Unmarshal(raw, p); err != nil {
		return nil, errors.New(protoPosition.ReplaceAllString(err.Error(), ""))
	}
	return p, nil
}

// definition is a playbook without what has become of it.
func definition(p *gnomonv1.Playbook) *gnomonv1.Playbook {
	p = proto.CloneOf(p)
	p.Status, p.CreateTime, p.UpdateTime = nil, nil, nil
	return p
}
