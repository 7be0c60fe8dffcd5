package playbook

import (
	"fmt"
	"maps"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// ActionID is the id of the action of a stage (from 0) on a node. It is the same
// however often the stage's actions are sent, so that none is made twice.
func ActionID(playbook string, stage int, node string) string {
	return fmt.Sprintf("%s.%d.%s", playbook, stage, node)
}

// materialise makes the action of a stage on a node.
func materialise(p *gnomonv1.Playbook, index int, node string, now time.Time) *gnomonv1.NodeAction {
	stage := p.GetStages()[index]
	a := &gnomonv1.NodeAction{
		Id: ActionID(p.GetId(), index, node), Cluster: p.GetCluster(), Node: node,
		Approve: stage.GetApprove(), Labels: p.GetLabels(),
		Origin: gnomonv1.NodeAction_PLAYBOOK, RequestedBy: p.GetRequestedBy(),
		Playbook: p.GetId(), Stage: stage.GetName(), CreateTime: timestamppb.New(now),
	}
	setState(a, gnomonv1.NodeAction_PENDING_SCHEDULE, "")
	if stage.GetApprove() {
		setState(a, gnomonv1.NodeAction_PENDING_APPROVE, "")
	}
	expand := expander(values(p, stage, node))
	if exec := stage.GetExec(); exec != nil {
		a.Action = &gnomonv1.NodeAction_Exec{Exec: expandExec(exec, expand)}
	}
	if request := stage.GetHttpRequest(); request != nil {
		a.Action = &gnomonv1.NodeAction_HttpRequest{HttpRequest: expandHTTP(request, expand)}
	}
	return a
}

// values are what a stage's template may name on a node.
func values(p *gnomonv1.Playbook, stage *gnomonv1.PlaybookStage, node string) map[string]string {
	v := maps.Clone(p.GetVariables())
	if v == nil {
		v = map[string]string{}
	}
	v["node"], v["cluster"], v["playbook"], v["stage"] = node, p.GetCluster(), p.GetId(), stage.GetName()
	return v
}

// builtIn are the names that are there without being declared, and cannot be.
var builtIn = []string{"node", "cluster", "playbook", "stage"}

// expandExec fills a program's template in. A value never becomes more than the word
// it stands in: nothing is split or quoted.
func expandExec(exec *gnomonv1.ExecAction, expand func(string) string) *gnomonv1.ExecAction {
	exec = proto.CloneOf(exec)
	for i, word := range exec.GetArgv() {
		exec.Argv[i] = expand(word)
	}
	for _, name := range sorted(exec.GetEnvironment()) {
		exec.Environment[name] = expand(exec.GetEnvironment()[name])
	}
	exec.WorkingDirectory = expand(exec.GetWorkingDirectory())
	return exec
}

func expandHTTP(request *gnomonv1.HttpRequest, expand func(string) string) *gnomonv1.HttpRequest {
	request = proto.CloneOf(request)
	request.Url = expand(request.GetUrl())
	for _, name := range sorted(request.GetHeaders()) {
		request.Headers[name] = expand(request.GetHeaders()[name])
	}
	if len(request.GetBody()) > 0 {
		request.Body = []byte(expand(string(request.GetBody())))
	}
	return request
}
