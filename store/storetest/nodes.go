package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// RunNodes runs the suite of node actions and playbooks. open gives an empty store each
// time; the suite closes it. The tests run in parallel.
func RunNodes(t *testing.T, open func(t *testing.T, o Options) store.Store) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests []nodeTest
	}{
		{"node actions", nodeActionTests},
		{"playbooks", playbookTests},
		{"lists of nodes", nodeListTests},
		{"purges of nodes", nodePurgeTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, tt := range group.tests {
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					c := &clock{now: epoch}
					s := open(t, Options{Now: c.Now, TombstoneTTL: ttl})
					require.NotNil(t, s)
					t.Cleanup(func() { require.NoError(t, s.Close()) })
					tt.run(t, s)
				})
			}
		})
	}
}

// nodeTest is one test of the suite.
type nodeTest struct {
	name string
	run  func(t *testing.T, s store.Nodes)
}

// aNodeAction is one with all that a row has.
func aNodeAction(cluster, id string) *gnomonv1.NodeAction {
	return &gnomonv1.NodeAction{
		Id: id, Cluster: cluster, Node: "n1", State: gnomonv1.NodeAction_PENDING_SCHEDULE, Class: gnomonv1.NodeAction_CORE_INTERMEDIATE,
		Action:      &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/echo", "it's", "\xf0\x9f\x8c\xb5"}}},
		RequestedBy: "ann", CreateTime: timestamppb.New(epoch),
	}
}

func in(a *gnomonv1.NodeAction, state gnomonv1.NodeAction_State) *gnomonv1.NodeAction {
	a = proto.CloneOf(a)
	a.State = state
	return a
}

var nodeActionTests = []nodeTest{
	{"what is put is read, whole", func(t *testing.T, s store.Nodes) {
		a := aNodeAction("c", "a")
		require.NoError(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{{Action: a, Revision: at(1), RequestID: "r", Digest: "d"}}))
		row, err := s.GetNodeAction(t.Context(), "c", "a")
		require.NoError(t, err)
		requireProto(t, a, row.Action)
		require.Equal(t, at(1), row.Revision)
		require.Equal(t, "r", row.RequestID)
		require.Equal(t, "d", row.Digest)
	}},
	{"what is not there is not found", func(t *testing.T, s store.Nodes) {
		require.NoError(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{{Action: aNodeAction("c", "a"), Revision: at(1)}}))
		for _, key := range [][2]string{{"c", "b"}, {"b", "a"}, {"c", "A"}, {"", ""}, {"c", "\xff"}} {
			_, err := s.GetNodeAction(t.Context(), key[0], key[1])
			require.ErrorIs(t, err, store.ErrNotFound, "%q", key)
		}
	}},
	{"an id belongs to its cluster", func(t *testing.T, s store.Nodes) {
		// The keys of these begin with the same text.
		one, other := aNodeAction("c", "a"), in(aNodeAction("d", "a"), gnomonv1.NodeAction_DONE)
		require.NoError(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{{Action: one, Revision: at(1)}, {Action: other, Revision: at(1)}}))
		row, err := s.GetNodeAction(t.Context(), "c", "a")
		require.NoError(t, err)
		requireProto(t, one, row.Action)
		row, err = s.GetNodeAction(t.Context(), "d", "a")
		require.NoError(t, err)
		requireProto(t, other, row.Action)
	}},
	{"only a newer revision is written", func(t *testing.T, s store.Nodes) {
		a := aNodeAction("c", "a")
		later := store.Revision{Incarnation: epoch.Add(time.Second), Sequence: 1}
		for _, w := range []struct {
			revision store.Revision
			state    gnomonv1.NodeAction_State
			stands   gnomonv1.NodeAction_State
		}{
			{at(2), gnomonv1.NodeAction_NEW, gnomonv1.NodeAction_NEW},
			{at(1), gnomonv1.NodeAction_PENDING_SCHEDULE, gnomonv1.NodeAction_NEW}, // older
			{at(2), gnomonv1.NodeAction_DONE, gnomonv1.NodeAction_NEW},             // the same
			{at(10), gnomonv1.NodeAction_RUNNING, gnomonv1.NodeAction_RUNNING},     // compared as a number
			{later, gnomonv1.NodeAction_FAILED, gnomonv1.NodeAction_FAILED},        // of a cluster begun anew
			{at(99), gnomonv1.NodeAction_DONE, gnomonv1.NodeAction_FAILED},
		} {
			require.NoError(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{{Action: in(a, w.state), Revision: w.revision}}))
			row, err := s.GetNodeAction(t.Context(), "c", "a")
			require.NoError(t, err)
			require.Equal(t, w.stands, row.Action.GetState(), "after %v", w)
		}
	}},
	{"of one action twice the newest stands, in any order", func(t *testing.T, s store.Nodes) {
		a := aNodeAction("c", "a")
		rows := []store.NodeActionRow{
			{Action: in(a, gnomonv1.NodeAction_NEW), Revision: at(2)},
			{Action: in(a, gnomonv1.NodeAction_DONE), Revision: at(4)},
			{Action: in(a, gnomonv1.NodeAction_RUNNING), Revision: at(3)},
			{Action: in(a, gnomonv1.NodeAction_PENDING_SCHEDULE), Revision: at(1), RequestID: "r", Digest: "d"},
		}
		require.NoError(t, s.PutNodeActions(t.Context(), rows))
		row, err := s.GetNodeAction(t.Context(), "c", "a")
		require.NoError(t, err)
		require.Equal(t, gnomonv1.NodeAction_DONE, row.Action.GetState())
	}},
	{"a request_id that is not named stays", func(t *testing.T, s store.Nodes) {
		a := aNodeAction("c", "a")
		for _, w := range []struct{ name, digest, stands, digestStands string }{
			{"r", "d", "r", "d"}, {"", "", "r", "d"}, {"s", "e", "s", "e"},
		} {
			row, _ := s.GetNodeAction(t.Context(), "c", "a")
			row = store.NodeActionRow{Action: a, Revision: at(row.Revision.Sequence + 1), RequestID: w.name, Digest: w.digest}
			require.NoError(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{row}))
			row, err := s.GetNodeAction(t.Context(), "c", "a")
			require.NoError(t, err)
			require.Equal(t, w.stands, row.RequestID)
			require.Equal(t, w.digestStands, row.Digest)
		}
	}},
	{"what has no key is refused, nothing is no error", func(t *testing.T, s store.Nodes) {
		require.NoError(t, s.PutNodeActions(t.Context(), nil))
		require.Error(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{{Action: aNodeAction("", "a"), Revision: at(1)}}))
		require.Error(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{{Action: aNodeAction("c", ""), Revision: at(1)}}))
	}},
}

// aPlaybook is one with all that a row has.
func aPlaybook(id string) *gnomonv1.Playbook {
	return &gnomonv1.Playbook{
		Id: id, Cluster: "c", RequestedBy: "ann", CreateTime: timestamppb.New(epoch),
		Stages: []*gnomonv1.PlaybookStage{{Name: "one", AllNodes: true, Action: &gnomonv1.PlaybookStage_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"true"}}}}},
		Status: &gnomonv1.PlaybookStatus{State: gnomonv1.PlaybookStatus_RUNNING},
	}
}

var playbookTests = []nodeTest{
	{"what is put is read, whole", func(t *testing.T, s store.Nodes) {
		p := aPlaybook("p")
		require.NoError(t, s.PutPlaybook(t.Context(), store.PlaybookRow{Playbook: p, RequestID: "r", Digest: "d"}))
		row, err := s.GetPlaybook(t.Context(), "p")
		require.NoError(t, err)
		requireProto(t, p, row.Playbook)
		require.Equal(t, store.PlaybookRow{Playbook: row.Playbook, RequestID: "r", Digest: "d"}, row)
		for _, id := range []string{"q", "P", "", "\xff"} {
			_, err = s.GetPlaybook(t.Context(), id)
			require.ErrorIs(t, err, store.ErrNotFound, "%q", id)
		}
		require.Error(t, s.PutPlaybook(t.Context(), store.PlaybookRow{Playbook: aPlaybook("")}))
	}},
	{"only a newer revision is written, and keeps the request_id", func(t *testing.T, s store.Nodes) {
		for _, w := range []struct {
			sequence uint64
			state    gnomonv1.PlaybookStatus_State
			stands   gnomonv1.PlaybookStatus_State
		}{
			{2, gnomonv1.PlaybookStatus_RUNNING, gnomonv1.PlaybookStatus_RUNNING},
			{1, gnomonv1.PlaybookStatus_PENDING_APPROVE, gnomonv1.PlaybookStatus_RUNNING},
			{2, gnomonv1.PlaybookStatus_FAILED, gnomonv1.PlaybookStatus_RUNNING},
			{10, gnomonv1.PlaybookStatus_DONE, gnomonv1.PlaybookStatus_DONE},
		} {
			p := aPlaybook("p")
			p.Status.State = w.state
			row := store.PlaybookRow{Playbook: p, Revision: at(w.sequence)}
			if w.sequence == 2 && w.state == gnomonv1.PlaybookStatus_RUNNING {
				row.RequestID, row.Digest = "r", "d"
			}
			require.NoError(t, s.PutPlaybook(t.Context(), row))
			row, err := s.GetPlaybook(t.Context(), "p")
			require.NoError(t, err)
			require.Equal(t, w.stands, row.Playbook.GetStatus().GetState())
			require.Equal(t, "r", row.RequestID)
			require.Equal(t, "d", row.Digest)
		}
	}},
}
