package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// fakePlaybooks is a PlaybookService in memory.
type fakePlaybooks struct {
	gnomonv1.UnimplementedPlaybookServiceServer
	history

	all map[string]*gnomonv1.Playbook
	// changes is what WatchPlaybook sends; it ends when the channel is closed.
	changes chan *gnomonv1.Playbook
}

func newFakePlaybooks() *fakePlaybooks {
	return &fakePlaybooks{all: map[string]*gnomonv1.Playbook{}, changes: make(chan *gnomonv1.Playbook, 16)}
}

func (f *fakePlaybooks) put(all ...*gnomonv1.Playbook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range all {
		f.all[p.GetId()] = p
	}
}

func (f *fakePlaybooks) CreatePlaybook(_ context.Context, r *gnomonv1.CreatePlaybookRequest) (*gnomonv1.Playbook, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	p := playbook.Start(proto.CloneOf(r.GetPlaybook()), testNow).GetPlaybook()
	if !r.GetValidateOnly() {
		f.all[p.GetId()] = p
	}
	return p, nil
}

// command answers with the playbook after a change of its state.
func (f *fakePlaybooks) command(r interface {
	proto.Message
	GetId() string
}, state gnomonv1.PlaybookStatus_State,
) (*gnomonv1.Playbook, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	p := f.all[r.GetId()]
	if p == nil {
		return nil, status.Errorf(codes.NotFound, "no playbook %q", r.GetId())
	}
	if state != gnomonv1.PlaybookStatus_STATE_UNSPECIFIED {
		p.Status.State = state
	}
	return proto.CloneOf(p), nil
}

func (f *fakePlaybooks) GetPlaybook(_ context.Context, r *gnomonv1.GetPlaybookRequest) (*gnomonv1.Playbook, error) {
	return f.command(r, gnomonv1.PlaybookStatus_STATE_UNSPECIFIED)
}

func (f *fakePlaybooks) ApprovePlaybook(_ context.Context, r *gnomonv1.ApprovePlaybookRequest) (*gnomonv1.Playbook, error) {
	return f.command(r, gnomonv1.PlaybookStatus_RUNNING)
}

func (f *fakePlaybooks) RejectPlaybook(_ context.Context, r *gnomonv1.RejectPlaybookRequest) (*gnomonv1.Playbook, error) {
	return f.command(r, gnomonv1.PlaybookStatus_CANCELLED)
}

func (f *fakePlaybooks) CancelPlaybook(_ context.Context, r *gnomonv1.CancelPlaybookRequest) (*gnomonv1.Playbook, error) {
	return f.command(r, gnomonv1.PlaybookStatus_CANCELLED)
}

func (f *fakePlaybooks) NudgePlaybook(_ context.Context, r *gnomonv1.NudgePlaybookRequest) (*gnomonv1.Playbook, error) {
	return f.command(r, gnomonv1.PlaybookStatus_STATE_UNSPECIFIED)
}

func (f *fakePlaybooks) ListPlaybooks(_ context.Context, r *gnomonv1.ListPlaybooksRequest) (*gnomonv1.ListPlaybooksResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.accept(r); err != nil {
		return nil, err
	}
	from, _ := strconv.Atoi(r.GetPageToken())
	size := int(cmp.Or(r.GetPageSize(), 50))
	reply := &gnomonv1.ListPlaybooksResponse{}
	for i, id := range slices.Sorted(maps.Keys(f.all)) {
		switch {
		case i < from:
		case i >= from+size:
			reply.NextPageToken = strconv.Itoa(from + size)
			return reply, nil
		default:
			reply.Playbooks = append(reply.Playbooks, f.all[id])
		}
	}
	return reply, nil
}

func (f *fakePlaybooks) WatchPlaybook(r *gnomonv1.WatchPlaybookRequest, stream grpc.ServerStreamingServer[gnomonv1.WatchPlaybookResponse]) error {
	f.mu.Lock()
	err := f.accept(r)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return relay(stream.Context(), f.changes, func(p *gnomonv1.Playbook) error {
		return stream.Send(&gnomonv1.WatchPlaybookResponse{Playbook: p})
	})
}

const upgradeYAML = `
id: upgrade-7
cluster: prod
variables: {version: 1.2.3}
labels: {team: a}
stages:
  - name: drain
    nodes: [node-1]
    exec: {argv: [/opt/app/drain]}
  - name: upgrade
    nodeLabels: {role: db}
    parallel: 2
    exec:
      argv: [/opt/app/upgrade, "--to", "${version}"]
      timeout: 60s
    onFailure: CONTINUE
    allowedFailures: 1
  - name: check
    allNodes: true
    httpRequest: {method: GET, url: "http://${node}:8080/health"}
`

// upgrade is the playbook of upgradeYAML as it stands while its second stage is active:
// by node what is said of it. Each is a whole run of its own.
func upgrade(t *testing.T, state gnomonv1.PlaybookStatus_State, second ...gnomonv1.NodeAction_State) *gnomonv1.Playbook {
	t.Helper()
	trees, err := decodeTrees("x.yaml", []byte(upgradeYAML))
	if err != nil {
		t.Fatal(err)
	}
	p, err := playbookOf(trees[0])
	if err != nil {
		t.Fatal(err)
	}
	p = playbook.Start(p, testNow.Add(-time.Minute)).GetPlaybook()
	p.RequestedBy = "ann"
	st := p.GetStatus()
	st.State = state
	if len(second) == 0 {
		return p
	}
	st.StartTime = timestamppb.New(testNow.Add(-12 * time.Second))
	st.Stages[0].State = gnomonv1.PlaybookStatus_SUCCEEDED
	st.Stages[0].Actions = []*gnomonv1.PlaybookStatus_StageAction{{Id: "upgrade-7.0.node-1", Node: "node-1", State: gnomonv1.NodeAction_DONE}}
	st.Stages[1].State = gnomonv1.PlaybookStatus_ACTIVE
	for i, s := range second {
		node := "node-" + strconv.Itoa(i+1)
		st.Stages[1].Actions = append(st.Stages[1].Actions, &gnomonv1.PlaybookStatus_StageAction{Id: "upgrade-7.1." + node, Node: node, State: s})
	}
	if playbook.Ended(state) {
		st.FinishTime = timestamppb.New(testNow)
		st.Stages[1].State = gnomonv1.PlaybookStatus_SUCCEEDED
		st.Stages[2].State = gnomonv1.PlaybookStatus_SUCCEEDED
	}
	if state == gnomonv1.PlaybookStatus_FAILED {
		st.Reason = "stage upgrade had more failures than are allowed"
		st.Stages[1].State, st.Stages[2].State = gnomonv1.PlaybookStatus_UNSUCCESSFUL, gnomonv1.PlaybookStatus_SKIPPED
	}
	return p
}
