package starter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

func rowsOf(count int, payload string) []store.Row {
	rows := make([]store.Row, count)
	for i := range rows {
		rows[i].Action = &gnomonv1.ScheduledAction{
			Meta:   &gnomonv1.Meta{Id: fmt.Sprintf("a%04d", i), Labels: map[string]string{"p": payload}},
			Status: &gnomonv1.Status{ScheduledAt: timestamppb.New(noon)},
		}
	}
	return rows
}

// allPages reads to the end and gives the ids, and the sizes of the pages.
func allPages(t *testing.T, st store.Actions, req *gnomonv1.ListActionsRequest) (ids []string, sizes []int) {
	t.Helper()
	for {
		page, err := list(t.Context(), st, req)
		require.NoError(t, err)
		for _, one := range page.GetActions() {
			ids = append(ids, one.GetMeta().GetId())
		}
		sizes = append(sizes, len(page.GetActions()))
		if page.GetNextPageToken() == "" {
			return ids, sizes
		}
		req.PageToken = page.GetNextPageToken()
	}
}

// AIP-158: 0 is the default size, the last page has no token, nothing is lost or
// doubled at the seams.
func TestListPages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rows, size int
		want       []int
	}{
		"none":         {0, 0, []int{0}},
		"default size": {120, 0, []int{50, 50, 20}},
		"exact":        {20, 10, []int{10, 10}},
		"one by one":   {3, 1, []int{1, 1, 1}},
		"greatest":     {1001, 1000, []int{1000, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := &fakeStore{rows: rowsOf(test.rows, "")}
			ids, sizes := allPages(t, st, &gnomonv1.ListActionsRequest{PageSize: int32(test.size)})
			require.Equal(t, test.want, sizes)
			require.Len(t, ids, test.rows)
			for i, id := range ids {
				require.Equal(t, fmt.Sprintf("a%04d", i), id)
			}
		})
	}
}

// A page stays below the 4 MiB that gRPC clients accept, however big its actions
// are: it ends early and goes on in the next.
func TestListPagesOfBigActionsAreShort(t *testing.T) {
	t.Parallel()
	st := &fakeStore{rows: rowsOf(30, strings.Repeat("x", 256<<10))}
	ids, sizes := allPages(t, st, &gnomonv1.ListActionsRequest{PageSize: 1000})
	require.Len(t, ids, 30)
	require.Equal(t, []int{11, 11, 8}, sizes)
	huge := &fakeStore{rows: rowsOf(2, strings.Repeat("x", maxPageBytes+1))}
	_, sizes = allPages(t, huge, &gnomonv1.ListActionsRequest{})
	require.Equal(t, []int{1, 1}, sizes, "a page has at least one action")
	page, err := list(t.Context(), st, &gnomonv1.ListActionsRequest{PageSize: 1000})
	require.NoError(t, err)
	require.Less(t, proto.Size(page), 4<<20)
}

// The position has the time only where the order goes by it.
func TestListAsksTheStore(t *testing.T) {
	t.Parallel()
	st := &fakeStore{rows: rowsOf(4, "")}
	allPages(t, st, &gnomonv1.ListActionsRequest{PageSize: 2, Filter: `state = "RUNNING"`, ShowFinished: true})
	allPages(t, st, &gnomonv1.ListActionsRequest{PageSize: 2, OrderBy: "id desc"})
	running := []gnomonv1.Status_State{gnomonv1.Status_RUNNING}
	require.Equal(t, []store.ActionQuery{
		{States: running, ShowFinished: true, Limit: 3},
		{States: running, ShowFinished: true, Limit: 3, After: &store.ActionPosition{ID: "a0001", ScheduledAt: noon}},
		{Order: store.ByID, Descending: true, Limit: 3},
		{Order: store.ByID, Descending: true, Limit: 3, After: &store.ActionPosition{ID: "a0001"}},
	}, st.queries)
}

// P-05: a store that is down is UNAVAILABLE, and what it said is not passed on.
func TestListWithoutTheStore(t *testing.T) {
	t.Parallel()
	st := &fakeStore{err: errors.New("dial 10.0.0.7: refused")}
	_, err := list(t.Context(), st, &gnomonv1.ListActionsRequest{})
	requireReason(t, err, codes.Unavailable, reasonStoreUnavailable)
	require.NotContains(t, status.Convert(err).Proto().String(), "10.0.0.7")
	require.ErrorIs(t, err, st.err, "the cause is kept for the log")

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = list(gone, st, &gnomonv1.ListActionsRequest{})
	requireReason(t, err, codes.Canceled, reasonCancelled)
}
