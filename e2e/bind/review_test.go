package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
)

// found is what a problem says, without its words.
type found struct {
	change   int32
	severity gnomonv1.Problem_Severity
	code     string
}

func foundIn(problems []*gnomonv1.Problem) []found {
	all := []found{}
	for _, p := range problems {
		all = append(all, found{p.GetChangeIndex(), p.GetSeverity(), p.GetCode()})
	}
	return all
}

const (
	hard = gnomonv1.Problem_HARD
	soft = gnomonv1.Problem_SOFT
)

// V-03: the problems of all changes are said at once, hard and soft, each with its
// change's index, and nothing is stored, neither is anything done.
func TestSubmittedProblems(t *testing.T) {
	t.Parallel()
	const zone = "problems.test"
	server := bindtest.Start(t, bindtest.Options{Zones: map[string]string{zone: `
www A 192.0.2.1
alias CNAME www
_owner.shop TXT "owner=shop"
sub NS ns.example.net.
`}})
	s := open(t, server, zone)
	s.work(t)
	short := change(t, zone, "ADD", "short", "A", "192.0.2.9")
	short.Ttl = 1
	both := change(t, zone, "ADD", "a.prod", "A", "192.0.2.9")
	both.Ttl = 1 << 20
	all := []*gnomonv1.DnsRecordChange{
		change(t, zone, "ADD", "www", "A", "192.0.2.9"),
		change(t, zone, "ADD", "fine", "A", "192.0.2.9"),
		change(t, zone, "DELETE", "none", "TXT"),
		from(change(t, zone, "UPDATE", "www", "A", "192.0.2.9"), "192.0.2.77"),
		change(t, zone, "ADD", "alias", "TXT", `"x"`),
		change(t, zone, "ADD", "fine", "CNAME", "www."+zone),
		short,
		change(t, zone, "ADD", "shop", "A", "192.0.2.9"),
		both,
		change(t, "elsewhere.test", "ADD", "www", "A", "192.0.2.9"),
		change(t, zone, "ADD", "www.sub", "A", "192.0.2.9"),
		change(t, zone, "ADD", "bad", "A", "not an address"),
		change(t, zone, "DELETE", "@", "NS"),
	}
	want := []found{
		{0, hard, "RECORD_EXISTS"},
		{2, hard, "RECORD_MISSING"},
		{3, hard, "DUPLICATE_CHANGE"},
		{4, hard, "CNAME_CONFLICT"},
		{5, hard, "CNAME_CONFLICT"},
		{6, soft, "TTL_OUT_OF_RANGE"},
		{7, soft, "OWNED_BY_ANOTHER"},
		{8, soft, "TTL_OUT_OF_RANGE"},
		{8, soft, "HIGH_VALUE_NAME"},
		{9, hard, "ZONE_NOT_SERVED"},
		{10, hard, "NAME_OUTSIDE_ZONE"},
		{11, hard, "INVALID_DATA"},
		{12, hard, "ZONE_NAME_SERVERS"},
	}
	for _, only := range []bool{false, true} {
		req := request("refused", soon(), all...)
		req.ValidateOnly = only
		_, err := s.client.CreateBatch(t.Context(), req)
		require.Equal(t, want, foundIn(refused(t, err)))
	}
	// Each soft problem alone is enough.
	for i, c := range []*gnomonv1.DnsRecordChange{short, all[7]} {
		_, err := s.client.CreateBatch(t.Context(), request(fmt.Sprint("soft-", i), soon(), all[1], c))
		require.Len(t, refused(t, err), 1)
	}
	list, err := s.client.ListBatches(t.Context(), &gnomonv1.ListBatchesRequest{})
	require.NoError(t, err)
	require.Empty(t, list.GetBatches(), "nothing is stored")
	// The id of what was refused is free.
	s.submit(t, "refused", soon(), all[1])
	s.reaches(t, "refused", gnomonv1.BatchStatus_COMPLETE)
	require.EqualValues(t, 2, server.Serial(t, zone), "of all these one change was made")
}

// refused gives the problems for which a batch was refused.
func refused(t *testing.T, err error) []*gnomonv1.Problem {
	t.Helper()
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	for _, detail := range status.Convert(err).Details() {
		if p, ok := detail.(*gnomonv1.BatchProblems); ok {
			return p.GetProblems()
		}
	}
	t.Fatalf("no problems in %v", err)
	return nil
}

// notice is what the webhook was told, and when.
type notice struct {
	Event    string `json:"event"`
	Key      string `json:"key"`
	BatchID  string `json:"batchId"`
	State    string `json:"state"`
	Round    uint32 `json:"round"`
	Problems []struct {
		ChangeIndex *int32 `json:"changeIndex"`
		Severity    string `json:"severity"`
		Code        string `json:"code"`
	} `json:"problems"`

	// stored is the batch's state in the store when the notice came.
	stored gnomonv1.BatchStatus_State
}

// onCall has the site's workers tell a webhook, and gives what that is told.
func (s *site) onCall(t *testing.T) <-chan notice {
	t.Helper()
	told := make(chan notice, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n notice
		if json.NewDecoder(r.Body).Decode(&n) != nil || n.Key != r.Header.Get("Idempotency-Key") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		b, err := s.client.GetBatch(r.Context(), &gnomonv1.GetBatchRequest{Id: n.BatchID})
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		n.stored = b.GetStatus().GetState()
		told <- n
	}))
	t.Cleanup(hook.Close)
	s.notifications = filepath.Join(s.dir, "notifications.yaml")
	s.write(t, "notifications.yaml", fmt.Sprintf("channels:\n  - name: on-call\n    webhook: {url: %q}\n    events: [BatchComplete]\n", hook.URL))
	return told
}

func next(t *testing.T, told <-chan notice) notice {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	select {
	case n := <-told:
		return n
	case <-ctx.Done():
		t.Fatal("nobody was told")
		return notice{}
	}
}

// V-07, V-08, V-09, V-17, V-18: another client changes the zone while a batch waits. It
// comes to MANUAL_REVIEW with the problems named, hard and soft, applies nothing, and one
// notice goes out, after that is stored; so for each review. Once the zone is repaired,
// retry completes it.
func TestZoneIsChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const zone = "meanwhile.test"
	server := bindtest.Start(t, bindtest.Options{Zones: map[string]string{zone: "old A 192.0.2.1\nshop A 192.0.2.2"}})
	s := open(t, server, zone)
	told := s.onCall(t)
	s.work(t)
	s.submit(t, "meanwhile", time.Now().Add(3*time.Second),
		change(t, zone, "ADD", "fine", "A", "192.0.2.9"),
		change(t, zone, "ADD", "new", "A", "192.0.2.9"),
		change(t, zone, "DELETE", "old", "A"),
		change(t, zone, "UPDATE", "shop", "A", "192.0.2.3"),
	)
	server.NSUpdate(t,
		"update add new.meanwhile.test. 300 CNAME www.example.net.",
		"update del old.meanwhile.test. A",
		`update add _owner.shop.meanwhile.test. 300 TXT "owner=shop"`)
	want := []found{{1, hard, "CNAME_CONFLICT"}, {2, hard, "RECORD_MISSING"}, {3, soft, "OWNED_BY_ANOTHER"}}

	for round := uint32(1); round <= 2; round++ {
		b := s.reachesIn(t, "meanwhile", round, gnomonv1.BatchStatus_MANUAL_REVIEW)
		require.Equal(t, round, b.GetStatus().GetRound())
		require.Equal(t, want, foundIn(b.GetStatus().GetProblems()))
		for i, c := range b.GetChanges() {
			require.Equal(t, gnomonv1.ChangeStatus_PENDING, c.GetStatus().GetState())
			require.Zero(t, c.GetStatus().GetAttempts(), "nothing was begun")
			if i > 0 {
				require.Equal(t, want[i-1:i], foundIn(c.GetStatus().GetProblems()))
			}
		}
		n := next(t, told)
		require.Equal(t, []any{"ScheduledChangeFailed", "meanwhile", "MANUAL_REVIEW", round, gnomonv1.BatchStatus_MANUAL_REVIEW},
			[]any{n.Event, n.BatchID, n.State, n.Round, n.stored})
		require.Len(t, n.Problems, len(want))
		for i, p := range n.Problems {
			require.Equal(t, want[i].change, *p.ChangeIndex)
			require.Equal(t, want[i].severity.String(), p.Severity)
			require.Equal(t, want[i].code, p.Code)
		}
		require.EqualValues(t, 2, server.Serial(t, zone), "nothing was applied")
		if round == 2 {
			// The person repairs the zone.
			server.NSUpdate(t,
				"update del new.meanwhile.test. CNAME",
				"update add old.meanwhile.test. 300 A 192.0.2.1",
				"update del _owner.shop.meanwhile.test. TXT")
		}
		_, err := s.client.CancelBatch(t.Context(), &gnomonv1.CancelBatchRequest{Id: "meanwhile"})
		require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
		b, err = s.client.ReviewBatch(t.Context(), &gnomonv1.ReviewBatchRequest{
			Id: "meanwhile", Decision: gnomonv1.ReviewBatchRequest_RETRY, Comment: "looked at",
		})
		require.NoError(t, err)
		require.Equal(t, "retry", b.GetStatus().GetLastDecision().GetDecision())
	}
	b := s.reachesIn(t, "meanwhile", 3, gnomonv1.BatchStatus_COMPLETE)
	require.EqualValues(t, 3, b.GetStatus().GetRound())
	require.Empty(t, b.GetStatus().GetProblems())
	require.EqualValues(t, 3+4, server.Serial(t, zone))
	require.Equal(t, []string{"300 A 192.0.2.9"}, server.Lookup(t, "fine."+zone, "A"))
	require.Equal(t, []string{"300 A 192.0.2.9"}, server.Lookup(t, "new."+zone, "A"))
	require.Empty(t, server.Lookup(t, "old."+zone, "A"))
	require.Equal(t, []string{"300 A 192.0.2.3"}, server.Lookup(t, "shop."+zone, "A"))
	// The notice of the end comes last, so there was one for each review.
	n := next(t, told)
	require.Equal(t, []any{"BatchComplete", uint32(3)}, []any{n.Event, n.Round})
	require.Empty(t, told)
}
