package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// finishedAt is when the ith finished: an hour after the one before.
func finishedAt(i int) time.Time { return epoch.Add(time.Duration(i) * time.Hour) }

var nodePurgeTests = []nodeTest{
	{"actions that finished before go, the oldest first, whatever their age and state", func(t *testing.T, s store.Nodes) {
		states := []gnomonv1.NodeAction_State{gnomonv1.NodeAction_DONE, gnomonv1.NodeAction_FAILED, gnomonv1.NodeAction_CANCELLED, gnomonv1.NodeAction_LOST}
		var rows []store.NodeActionRow
		for i := range 8 {
			a := in(aNodeAction([]string{"c", "d"}[i%2], fmt.Sprint(i)), states[i%4])
			// The last to finish was created first.
			a.CreateTime, a.FinishTime = timestamppb.New(finishedAt(-i)), timestamppb.New(finishedAt(i))
			rows = append(rows, store.NodeActionRow{Action: a, Revision: at(1)})
		}
		for i, state := range []gnomonv1.NodeAction_State{
			gnomonv1.NodeAction_PENDING_APPROVE, gnomonv1.NodeAction_PENDING_SCHEDULE, gnomonv1.NodeAction_NEW, gnomonv1.NodeAction_RUNNING,
		} {
			a := in(aNodeAction("c", fmt.Sprint("open", i)), state)
			a.CreateTime = timestamppb.New(finishedAt(-1000))
			rows = append(rows, store.NodeActionRow{Action: a, Revision: at(1)})
		}
		require.NoError(t, s.PutNodeActions(t.Context(), rows))
		stand := func() (ids []string) {
			for _, cluster := range []string{"c", "d"} {
				left, err := s.ListNodeActions(t.Context(), store.NodeActionQuery{Cluster: cluster, Limit: 100})
				require.NoError(t, err)
				for _, row := range left {
					ids = append(ids, row.Action.GetId())
				}
			}
			return ids
		}
		for _, step := range []struct{ before, limit, purged int }{{6, 0, 0}, {6, -1, 0}, {0, 9, 0}, {6, 2, 2}, {6, 9, 4}, {6, 9, 0}} {
			n, err := s.PurgeNodeActions(t.Context(), finishedAt(step.before), step.limit)
			require.NoError(t, err)
			require.Equal(t, step.purged, n, "%v", step)
			if step.purged == 2 {
				require.NotContains(t, stand(), "0")
				require.NotContains(t, stand(), "1")
			}
		}
		require.ElementsMatch(t, []string{"6", "7", "open0", "open1", "open2", "open3"}, stand())
		_, err := s.GetNodeAction(t.Context(), "c", "0")
		require.ErrorIs(t, err, store.ErrNotFound)
	}},
	{"what is finished by a later row goes, what an agent took up again stays", func(t *testing.T, s store.Nodes) {
		a := aNodeAction("c", "a")
		over := in(a, gnomonv1.NodeAction_DONE)
		over.FinishTime = timestamppb.New(finishedAt(1))
		for i, row := range []struct {
			action *gnomonv1.NodeAction
			purged int
		}{{a, 0}, {over, -1}, {in(a, gnomonv1.NodeAction_RUNNING), 0}, {over, 1}} {
			require.NoError(t, s.PutNodeActions(t.Context(), []store.NodeActionRow{{Action: row.action, Revision: at(uint64(i) + 1)}}))
			if row.purged < 0 {
				continue // it is not purged in between
			}
			n, err := s.PurgeNodeActions(t.Context(), finishedAt(2), 10)
			require.NoError(t, err)
			require.Equal(t, row.purged, n, "row %d", i)
		}
	}},
	{"playbooks that ended before go, the oldest first", func(t *testing.T, s store.Nodes) {
		for i, state := range []gnomonv1.PlaybookStatus_State{
			gnomonv1.PlaybookStatus_DONE, gnomonv1.PlaybookStatus_FAILED, gnomonv1.PlaybookStatus_CANCELLED, gnomonv1.PlaybookStatus_DONE,
			gnomonv1.PlaybookStatus_PENDING_APPROVE, gnomonv1.PlaybookStatus_RUNNING,
		} {
			p := aPlaybook(fmt.Sprint(i))
			p.Status.State = state
			if i < 4 {
				p.Status.FinishTime = timestamppb.New(finishedAt(i))
			}
			require.NoError(t, s.PutPlaybook(t.Context(), store.PlaybookRow{Playbook: p, Revision: at(1)}))
		}
		for i, step := range []struct{ before, limit, purged int }{{3, 0, 0}, {0, 9, 0}, {3, 1, 1}, {3, 9, 2}, {3, 9, 0}} {
			n, err := s.PurgePlaybooks(t.Context(), finishedAt(step.before), step.limit)
			require.NoError(t, err)
			require.Equal(t, step.purged, n, "%v", step)
			_, err = s.GetPlaybook(t.Context(), "0")
			require.Equal(t, i < 2, err == nil, "%v: the oldest first", step)
		}
		left, err := s.ListPlaybooks(t.Context(), store.PlaybookQuery{Limit: 100})
		require.NoError(t, err)
		require.Len(t, left, 3)
	}},
}
