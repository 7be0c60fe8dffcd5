package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var nodeListTests = []nodeTest{
	{"a limit below 1 is an error", func(t *testing.T, s store.Nodes) {
		_, err := s.ListNodeActions(t.Context(), store.NodeActionQuery{Cluster: "c"})
		require.ErrorContains(t, err, "NodeActionQuery.Limit must be at least 1, but is 0")
		_, err = s.ListPlaybooks(t.Context(), store.PlaybookQuery{})
		require.ErrorContains(t, err, "PlaybookQuery.Limit must be at least 1, but is 0")
	}},
	{"any filter and page size find the actions that a plain search finds", func(t *testing.T, s store.Nodes) {
		var all []*gnomonv1.NodeAction
		var rows []store.NodeActionRow
		for i := range 120 {
			a := aNodeAction([]string{"c", "d"}[i%2], fmt.Sprintf("a%d", i))
			a.Node, a.Playbook = fmt.Sprintf("n%d", i%5), []string{"", "p", "q"}[i%3]
			a.State = gnomonv1.NodeAction_State(i%8 + 1)
			a.CreateTime = timestamppb.New(epoch.Add(time.Duration(i*7%11) * time.Millisecond))
			all, rows = append(all, a), append(rows, store.NodeActionRow{Action: a, Revision: at(1)})
		}
		require.NoError(t, s.PutNodeActions(t.Context(), rows))
		rapid.Check(t, func(t *rapid.T) {
			q := nodeActionQueries().Draw(t, "query")
			want := slices.DeleteFunc(slices.Clone(all), func(a *gnomonv1.NodeAction) bool {
				return a.GetCluster() != q.Cluster || q.Node != "" && a.GetNode() != q.Node || q.Playbook != "" && a.GetPlaybook() != q.Playbook ||
					len(q.States) > 0 && !slices.Contains(q.States, a.GetState())
			})
			slices.SortFunc(want, func(a, b *gnomonv1.NodeAction) int {
				return cmp.Or(a.GetCreateTime().AsTime().Compare(b.GetCreateTime().AsTime()), cmp.Compare(a.GetId(), b.GetId()))
			})
			require.Equal(t, idsOf(want), idsOf(pagesOf(t, q.Limit, func(after *store.ActionPosition) ([]*gnomonv1.NodeAction, error) {
				q.After = after
				page, err := s.ListNodeActions(background, q)
				actions := make([]*gnomonv1.NodeAction, len(page))
				for i, row := range page {
					actions[i] = row.Action
				}
				return actions, err
			})))
		})
	}},
	{"any filter and page size find the playbooks that a plain search finds", func(t *testing.T, s store.Nodes) {
		var all []*gnomonv1.Playbook
		for i := range 60 {
			p := aPlaybook(fmt.Sprintf("p%d", i))
			p.Cluster, p.Status.State = []string{"c", "d"}[i%2], gnomonv1.PlaybookStatus_State(i%5+1)
			p.CreateTime = timestamppb.New(epoch.Add(time.Duration(i*7%11) * time.Millisecond))
			require.NoError(t, s.PutPlaybook(t.Context(), store.PlaybookRow{Playbook: p, Revision: at(1)}))
			all = append(all, p)
		}
		rapid.Check(t, func(t *rapid.T) {
			state := rapid.Map(rapid.IntRange(1, 6), func(i int) gnomonv1.PlaybookStatus_State { return gnomonv1.PlaybookStatus_State(i) })
			q := store.PlaybookQuery{
				Cluster: rapid.SampledFrom([]string{"", "c", "d", "e"}).Draw(t, "cluster"),
				States:  rapid.SliceOfN(state, 0, 3).Draw(t, "states"),
				Limit:   rapid.IntRange(1, 70).Draw(t, "limit"),
			}
			want := slices.DeleteFunc(slices.Clone(all), func(p *gnomonv1.Playbook) bool {
				return q.Cluster != "" && p.GetCluster() != q.Cluster || len(q.States) > 0 && !slices.Contains(q.States, p.GetStatus().GetState())
			})
			slices.SortFunc(want, func(a, b *gnomonv1.Playbook) int {
				return cmp.Or(b.GetCreateTime().AsTime().Compare(a.GetCreateTime().AsTime()), cmp.Compare(b.GetId(), a.GetId()))
			})
			require.Equal(t, idsOf(want), idsOf(pagesOf(t, q.Limit, func(after *store.ActionPosition) ([]*gnomonv1.Playbook, error) {
				q.After = after
				page, err := s.ListPlaybooks(background, q)
				playbooks := make([]*gnomonv1.Playbook, len(page))
				for i, row := range page {
					playbooks[i] = row.Playbook
				}
				return playbooks, err
			})))
		})
	}},
}

// listed is what both kinds have.
type listed interface {
	GetId() string
	GetCreateTime() *timestamppb.Timestamp
}

// pagesOf follows a query from page to page until the end.
func pagesOf[M listed](t require.TestingT, limit int, list func(after *store.ActionPosition) ([]M, error)) []M {
	var all []M
	var after *store.ActionPosition
	for {
		page, err := list(after)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), limit)
		all = append(all, page...)
		if len(page) < limit {
			return all
		}
		require.Less(t, len(all), 10_000, "the pages do not end")
		last := page[len(page)-1]
		after = &store.ActionPosition{ScheduledAt: last.GetCreateTime().AsTime(), ID: last.GetId()}
	}
}

func idsOf[M listed](all []M) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = one.GetId()
	}
	return names
}

func nodeActionQueries() *rapid.Generator[store.NodeActionQuery] {
	return rapid.Custom(func(t *rapid.T) store.NodeActionQuery {
		state := rapid.Map(rapid.IntRange(1, 9), func(i int) gnomonv1.NodeAction_State { return gnomonv1.NodeAction_State(i) })
		return store.NodeActionQuery{
			Cluster:  rapid.SampledFrom([]string{"c", "d", "e"}).Draw(t, "cluster"),
			Node:     rapid.SampledFrom([]string{"", "", "n1", "n9"}).Draw(t, "node"),
			Playbook: rapid.SampledFrom([]string{"", "", "p", "x"}).Draw(t, "playbook"),
			States:   rapid.SliceOfN(state, 0, 3).Draw(t, "states"),
			Limit:    rapid.IntRange(1, 130).Draw(t, "limit"),
		}
	})
}
