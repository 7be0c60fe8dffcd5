package starter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// issue 2, 6: a token holds the key after which the next page begins.
func TestPageTokenHoldsThePosition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := store.ActionPosition{ID: rapid.StringMatching(`[A-Za-z0-9._:~-]{1,200}`).Draw(t, "id")}
		if rapid.Bool().Draw(t, "timed") {
			want.ScheduledAt = time.UnixMicro(rapid.Int64Range(-62135596800000000+1, 253402300799999999).Draw(t, "micros")).UTC()
		}
		req := &gnomonv1.ListActionsRequest{Filter: rapid.String().Draw(t, "filter"), OrderBy: "id", ShowFinished: rapid.Bool().Draw(t, "finished")}
		req.PageToken = listingOfActions(req).pageToken(want)
		got, err := listingOfActions(req).readPageToken(req.GetPageToken())
		require.NoError(t, err)
		require.Equal(t, &want, got)
	})
}

// A token means something only together with its query: one of another filter
// would skip rows without a word.
func TestPageTokenOfAnotherQueryIsRefused(t *testing.T) {
	t.Parallel()
	first := &gnomonv1.ListActionsRequest{Filter: `id = "a*"`, OrderBy: "id", PageSize: 10}
	token := listingOfActions(first).pageToken(store.ActionPosition{ID: "a1"})
	for name, other := range map[string]*gnomonv1.ListActionsRequest{
		"filter":        {Filter: `id = "b*"`, OrderBy: "id"},
		"order":         {Filter: `id = "a*"`, OrderBy: "id desc"},
		"show_finished": {Filter: `id = "a*"`, OrderBy: "id", ShowFinished: true},
		"parts moved":   {Filter: `id = "a*" id`},
	} {
		other.PageToken = token
		_, err := listingOfActions(other).readPageToken(other.GetPageToken())
		requireViolation(t, err, "page_token", ruleOtherQuery)
		require.NotEmpty(t, name)
	}
	again := &gnomonv1.ListActionsRequest{Filter: `id = "a*"`, OrderBy: "id", PageSize: 500, PageToken: token}
	_, err := listingOfActions(again).readPageToken(again.GetPageToken())
	require.NoError(t, err, "the page size may change from page to page")
}

// One changed character is noticed wherever it is, and a token has one form.
func TestDamagedPageTokenIsRefused(t *testing.T) {
	t.Parallel()
	req := &gnomonv1.ListActionsRequest{}
	token := listingOfActions(req).pageToken(store.ActionPosition{ID: "a12", ScheduledAt: noon})
	require.NotZero(t, len(token)%4, "the last character must have bits to spare")
	for i := range token {
		for c := range byte(0x80) {
			if token[i] == c {
				continue
			}
			req.PageToken = token[:i] + string(c) + token[i+1:]
			_, err := listingOfActions(req).readPageToken(req.GetPageToken())
			require.Equal(t, codes.InvalidArgument, status.Code(err), req.GetPageToken())
		}
		req.PageToken = token[:i]
		if i > 0 {
			_, err := listingOfActions(req).readPageToken(req.GetPageToken())
			requireViolation(t, err, "page_token", ruleMalformed)
		}
	}
}

func FuzzPageToken(f *testing.F) {
	f.Add("")
	f.Add(listingOfActions(&gnomonv1.ListActionsRequest{}).pageToken(store.ActionPosition{ID: "a", ScheduledAt: noon}))
	f.Fuzz(func(t *testing.T, token string) {
		position, err := listingOfActions(&gnomonv1.ListActionsRequest{}).readPageToken(token)
		if err != nil {
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			return
		}
		if token != "" {
			require.Equal(t, token, listingOfActions(&gnomonv1.ListActionsRequest{}).pageToken(*position))
		}
	})
}
