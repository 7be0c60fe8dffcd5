package ydb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// Every statement of node actions and playbooks, by what only it says.
const (
	isNodeRevisions    = "FROM node_actions WHERE id_hash IN"
	isNodeWrite        = "UPSERT INTO node_actions"
	isNodeAction       = "FROM node_actions WHERE id_hash = "
	isNodeList         = "JOIN node_actions"
	isPlaybookRevision = "SELECT revision, request_id, digest FROM playbooks"
	isPlaybookWrite    = "UPSERT INTO playbooks"
	isPlaybook         = "SELECT playbook, revision"
	isPlaybookList     = "JOIN playbooks"
)

// liveNodes makes every call; try makes each, whose statement says mark.
func liveNodes(t *testing.T, s *ydb.Store, try func(mark string, call func() error)) {
	t.Helper()
	rows := []store.NodeActionRow{
		{Action: &gnomonv1.NodeAction{Id: "a", Cluster: "c", Node: "n"}},
		{Action: &gnomonv1.NodeAction{Id: "b", Cluster: "c", Node: "n"}},
	}
	var sequence uint64
	put := func() error {
		sequence++
		for i := range rows {
			rows[i].Revision.Sequence = sequence
		}
		return s.PutNodeActions(t.Context(), rows)
	}
	putPlaybook := func() error {
		sequence++
		return s.PutPlaybook(t.Context(), store.PlaybookRow{
			Playbook: &gnomonv1.Playbook{Id: "p", Cluster: "c"}, Revision: store.Revision{Sequence: sequence},
		})
	}
	try(isNodeRevisions, put)
	try(isNodeWrite, put)
	try(isNodeAction, func() error {
		row, err := s.GetNodeAction(t.Context(), "c", "b")
		require.Equal(t, sequence, row.Revision.Sequence)
		return err
	})
	try(isNodeList, func() error {
		found, err := s.ListNodeActions(t.Context(), store.NodeActionQuery{Cluster: "c", Limit: 10})
		require.Len(t, found, 2)
		return err
	})
	try(isPlaybookRevision, putPlaybook)
	try(isPlaybookWrite, putPlaybook)
	try(isPlaybook, func() error {
		row, err := s.GetPlaybook(t.Context(), "p")
		require.Equal(t, sequence, row.Revision.Sequence)
		return err
	})
	try(isPlaybookList, func() error {
		found, err := s.ListPlaybooks(t.Context(), store.PlaybookQuery{Limit: 10})
		require.Len(t, found, 1)
		return err
	})
}

// Issue 4, 5: each retryable fault at each statement of node actions and playbooks. The
// call does what it says as if nothing had happened.
func TestEachFaultAtEachStatementOfNodes(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if fault.slow && testing.Short() {
				t.Skip("the SDK waits seconds")
			}
			server := start(t, ydbdouble.Options{})
			s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Timeout: 30 * time.Second})
			liveNodes(t, s, func(mark string, call func() error) {
				executions := once(server, mark, fault.Fault)
				require.NoError(t, call(), mark)
				if !fault.Committed { // otherwise the repetition finds nothing left to write
					require.GreaterOrEqual(t, executions.Load(), int64(2), mark)
				}
				server.Inject(nil)
			})
		})
	}
}
