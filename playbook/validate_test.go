package playbook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
	"gnomon/rule"
)

// found are the fields and rules of violations, in order.
func found(violations []rule.Violation) []string {
	var all []string
	for _, v := range violations {
		all = append(all, v.Field+" "+v.Rule)
	}
	return all
}

func good() *gnomonv1.Playbook {
	return &gnomonv1.Playbook{
		Id: "upgrade-1", Cluster: "c", Variables: map[string]string{"version": "2"},
		Stages: []*gnomonv1.PlaybookStage{
			{Name: "drain", AllNodes: true, Action: &gnomonv1.PlaybookStage_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
				Url: "http://${node}:80/drain?v=${version}", Headers: map[string]string{"X-Stage": "${stage}"},
			}}},
			{Name: "install", Nodes: []string{"n1", "n-2.example"}, Timeout: durationpb.New(time.Hour), Action: &gnomonv1.PlaybookStage_Exec{Exec: &gnomonv1.ExecAction{
				Argv: []string{"/usr/bin/install", "${version}", "$$x"}, WorkingDirectory: "/srv/${cluster}", Timeout: durationpb.New(time.Minute),
			}}},
		},
	}
}

// Issue 6: validated as a whole, with all problems at once.
func TestValidate(t *testing.T) {
	t.Parallel()
	require.Empty(t, playbook.Validate(good()))
	require.Equal(t, []string{"id REQUIRED", "cluster REQUIRED", "stages REQUIRED"}, found(playbook.Validate(&gnomonv1.Playbook{})))

	p := good()
	p.Id, p.Cluster = strings.Repeat("a", 101), "C"
	p.Variables = map[string]string{"node": "x", "9": "y"}
	p.Stages = append(p.Stages, &gnomonv1.PlaybookStage{Name: "drain", OnFailure: 7})
	p.Stages[0].Nodes = []string{"n1", "n1", "-"}
	p.Stages[0].GetHttpRequest().Url = "ftp://${node}"
	p.Stages[0].GetHttpRequest().Body = []byte("${")
	exec := p.GetStages()[1].GetExec()
	exec.Argv = []string{"", "$x", "a\x00"}
	exec.Environment = map[string]string{"a b": "${nobody}"}
	exec.WorkingDirectory, exec.OutputLimit, exec.Timeout = "relative", 1<<20, durationpb.New(-1)
	require.Equal(t, []string{
		"id TOO_LONG", "cluster INVALID_CHARACTER",
		`variables["9"] INVALID_CHARACTER`, `variables["node"] RESERVED`,
		"stages[0] REQUIRED", "stages[0].nodes[1] DUPLICATE", "stages[0].nodes[2] INVALID_CHARACTER",
		"stages[0].http_request.body INVALID_CHARACTER", "stages[0].http_request.url INVALID_URL",
		"stages[1].exec.argv REQUIRED", "stages[1].exec.argv[1] INVALID_CHARACTER", "stages[1].exec.argv[2] INVALID_CHARACTER",
		`stages[1].exec.environment["a b"] INVALID_CHARACTER`, `stages[1].exec.environment["a b"] UNSUPPORTED`,
		"stages[1].exec.working_directory INVALID_CHARACTER", "stages[1].exec.timeout OUT_OF_RANGE", "stages[1].exec.output_limit OUT_OF_RANGE",
		"stages[2] REQUIRED", "stages[2] REQUIRED", "stages[2].on_failure UNSUPPORTED", "stages[2].name DUPLICATE",
	}, found(playbook.Validate(p)))
}

func TestValidateAction(t *testing.T) {
	t.Parallel()
	require.Empty(t, playbook.ValidateAction(&gnomonv1.NodeAction{Node: "n1", Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"true", "${not a template"}}}}))
	require.Equal(t, []string{"id INVALID_CHARACTER", "node REQUIRED", "action REQUIRED", "requested_by TOO_LONG"},
		found(playbook.ValidateAction(&gnomonv1.NodeAction{Id: "a b", RequestedBy: strings.Repeat("x", 257)})))
	require.Equal(t, []string{"name REQUIRED"}, found(playbook.ValidateNode(&gnomonv1.Node{})))
	require.Equal(t, []string{"cluster INVALID_CHARACTER"}, found(playbook.ValidateCluster("cluster", "a.b")))
}
