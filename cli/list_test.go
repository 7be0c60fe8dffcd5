package cli

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func TestListTable(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	done := waiting(t, "done")
	done.Status.State = gnomonv1.Status_SUCCEEDED
	fake.put(retrying(t), waiting(t, "order-1"), done)
	got := fake.run(t, "action", "list").ok(t)
	require.Equal(t, `ID       STATE      KIND          DUE                             OK/FAIL/INT  LAST
done     SUCCEEDED  http_request                                  0/0/0
hello    RETRYING   http_request  in 4s, 2026-11-20 11:00:03 CET  0/2/1        FAILURE 2s ago: status 503
order-1  SCHEDULED  http_request  in 5s, 2026-11-20 11:00:05 CET  0/0/0
`, got.stdout)
	require.Empty(t, got.stderr)

	// A narrow terminal cuts lines instead of wrapping them.
	narrow := invocation{address: fake.address, width: 20, height: 10}.run(t.Context(), "action", "list", "--no-color").ok(t)
	require.Equal(t, "ID       STATE      \ndone     SUCCEEDED  \nhello    RETRYING   \norder-1  SCHEDULED  \n", narrow.stdout)
}

func TestListNothing(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, "no actions\n", fake.run(t, "action", "list").ok(t).stdout)
	require.Equal(t, "{}\n", fake.run(t, "action", "list", "-o", "json").ok(t).stdout)
}

func TestListPassesItsFlagsOn(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.run(t, "action", "list", "--filter", `state = "RETRYING"`, "--order-by", "id desc", "--page-size", "7",
		"--page-token", "0", "--show-finished").ok(t)
	requireProto(t, &gnomonv1.ListActionsRequest{
		Filter: `state = "RETRYING"`, OrderBy: "id desc", PageSize: 7, PageToken: "0", ShowFinished: true,
	}, requestsOf[*gnomonv1.ListActionsRequest](fake)[0])
}

func TestListPagesThroughUpToTheLimit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args  []string
		sizes []int32
		ids   int
		token string
	}{
		{nil, []int32{0}, 50, "50"},
		{[]string{"--page-size", "20"}, []int32{20}, 20, "20"},
		{[]string{"--limit", "45", "--page-size", "20"}, []int32{20, 20, 5}, 45, "45"},
		{[]string{"--limit", "120", "--page-size", "50"}, []int32{50, 50}, 70, ""},
		{[]string{"--limit", "60"}, []int32{60}, 60, "60"},
		{[]string{"--limit", "5000"}, []int32{1000}, 70, ""},
		{[]string{"--limit", "30", "--page-size", "20", "--page-token", "60"}, []int32{20}, 10, ""},
	} {
		fake := startFake(t)
		for i := range 70 {
			fake.put(waiting(t, fmt.Sprintf("a-%02d", i)))
		}
		got := fake.run(t, append([]string{"action", "list", "-o", "json"}, tc.args...)...).ok(t)
		reply := parse(t, &gnomonv1.ListActionsResponse{}, got.stdout)
		require.Len(t, reply.GetActions(), tc.ids, "%q", tc.args)
		require.Equal(t, tc.token, reply.GetNextPageToken(), "%q", tc.args)
		var sizes []int32
		for _, request := range requestsOf[*gnomonv1.ListActionsRequest](fake) {
			sizes = append(sizes, request.GetPageSize())
		}
		require.Equal(t, tc.sizes, sizes, "%q", tc.args)
	}
}

func TestListSaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "a"), waiting(t, "b"))
	got := fake.run(t, "action", "list", "--page-size", "1").ok(t)
	require.Equal(t, "note: there are more; go on with --page-token 1, or list more with --limit\n", got.stderr)
	require.Empty(t, fake.run(t, "action", "list", "--page-size", "1", "-o", "yaml").ok(t).stderr)
}
