package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
	"gnomon/changes"
	"gnomon/rule"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// judging is a kind of change that finds in a change what its apply_url says:
// http://hard/CODE, http://soft/CODE; in any other nothing.
type judging struct {
	changes.Kind

	err error
	// silent makes it wait until nobody asks any more.
	silent bool
	// more is put behind each message.
	more string
	mu   sync.Mutex
	// of and asked are what it was asked about last.
	of    changes.Batch
	asked []int
}

// Name implements changes.Kind.
func (*judging) Name() string { return "http_change" }

// Validate implements changes.Kind.
func (j *judging) Validate(ctx context.Context, of changes.Batch, all []changes.Subject) ([]*gnomonv1.Problem, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.of, j.asked = of, nil
	if j.silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var found []*gnomonv1.Problem
	for _, one := range all {
		j.asked = append(j.asked, one.Index)
		url := one.Change.GetHttpChange().GetApplyUrl()
		if code, ok := strings.CutPrefix(url, "http://hard/"); ok {
			found = append(found, changes.Hard(one.Index, code, "http_change", "it is %s%s", code, j.more))
		}
		if code, ok := strings.CutPrefix(url, "http://soft/"); ok {
			found = append(found, changes.Soft(one.Index, code, "http_change", "it is %s%s", code, j.more))
		}
	}
	return found, j.err
}

// starting is a Temporal that only counts what is started.
type starting struct {
	client.Client

	mu      sync.Mutex
	started []string
}

// ExecuteWorkflow implements client.Client.
func (s *starting) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = append(s.started, o.ID)
	return nil, nil //nolint:nilnil // the run is not looked at
}

// watchedStore counts what is staged in a store.
type watchedStore struct {
	store.Store

	mu     sync.Mutex
	staged int
}

// StageBatch implements store.Batches.
func (s *watchedStore) StageBatch(ctx context.Context, b *gnomonv1.Batch, requestID string) error {
	s.mu.Lock()
	s.staged++
	s.mu.Unlock()
	return s.Store.StageBatch(ctx, b, requestID)
}

// batchFacade is a facade of batches before a store in memory.
type batchFacade struct {
	*Batches

	kind     *judging
	rows     *watchedStore
	temporal *starting
}

func newBatchFacade(t *testing.T) batchFacade {
	t.Helper()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	f := batchFacade{kind: &judging{}, rows: &watchedStore{Store: rows}, temporal: &starting{}}
	kinds, err := changes.NewSet(f.kind)
	require.NoError(t, err)
	f.Batches, err = NewBatches(Config{
		Client: f.temporal, Store: f.rows, Changes: kinds,
		Now: func() time.Time { return noon }, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return f
}

// nothing holds that nothing was stored and nothing started.
func (f batchFacade) nothing(t *testing.T) {
	t.Helper()
	require.Zero(t, f.rows.staged)
	require.Empty(t, f.temporal.started)
}

// wantedBatch is a batch of changes at these URLs.
func wantedBatch(id string, urls ...string) *gnomonv1.Batch {
	b := &gnomonv1.Batch{Id: id, ScheduledAt: timestamppb.New(noon.Add(time.Hour))}
	for _, url := range urls {
		b.Changes = append(b.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{ApplyUrl: url}}})
	}
	return b
}

// problemsOf is what a refusal says of each problem, and its details.
func problemsOf(t *testing.T, err error) (said []string, info *errdetails.ErrorInfo, fields *errdetails.BadRequest) {
	t.Helper()
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	for _, detail := range status.Convert(err).Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			info = d
		case *errdetails.BadRequest:
			fields = d
		case *gnomonv1.BatchProblems:
			for _, p := range d.GetProblems() {
				at := "batch"
				if p.ChangeIndex != nil {
					at = fmt.Sprint(p.GetChangeIndex())
				}
				require.NotEmpty(t, p.GetMessage())
				said = append(said, strings.Join([]string{at, p.GetSeverity().String(), p.GetCode(), p.GetField()}, " "))
			}
		}
	}
	return said, info, fields
}

// V-03: what breaks the rules and what stands against it in the world come together, hard
// and soft, each with its change's index, and nothing is stored.
func TestABatchIsRefusedWithAllItsProblems(t *testing.T) {
	t.Parallel()
	f := newBatchFacade(t)
	b := wantedBatch("b", "http://hard/TAKEN", "ftp://x/", "http://fine/", "http://soft/FRIDAY", "")
	b.Changes = append(b.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_DnsRecord{DnsRecord: &gnomonv1.DnsRecordChange{
		Action: gnomonv1.DnsRecordChange_DELETE, Name: "a.example.org", Type: gnomonv1.DnsRecordChange_A,
	}}}, &gnomonv1.Change{})
	b.ScheduledAt = timestamppb.New(noon)
	for _, validateOnly := range []bool{true, false} {
		_, err := f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: b, ValidateOnly: validateOnly})
		said, info, fields := problemsOf(t, err)
		require.Equal(t, []string{
			"batch HARD TOO_EARLY scheduled_at",
			"0 HARD TAKEN http_change",
			"1 HARD INVALID_URL http_change.apply_url",
			"3 SOFT FRIDAY http_change",
			"4 HARD REQUIRED http_change.apply_url",
			"5 HARD UNKNOWN_KIND dns_record",
			"6 HARD REQUIRED ",
		}, said)
		require.Equal(t, rule.TooEarly, info.GetReason())
		require.Equal(t, map[string]string{"field": "batch.scheduled_at", "problems": "7"}, info.GetMetadata())
		require.Equal(t, []int{0, 2, 3}, f.kind.asked, "what breaks the rules is told to nobody")
		require.Len(t, fields.GetFieldViolations(), 7)
		require.Equal(t, "batch.changes[1].http_change.apply_url", fields.GetFieldViolations()[2].GetField())
		require.Equal(t, "batch.changes[3].http_change", fields.GetFieldViolations()[3].GetField())
		require.Equal(t, "soft problem: it is FRIDAY", fields.GetFieldViolations()[3].GetDescription())
		require.Contains(t, err.Error(), "and 4 more")
	}
	f.nothing(t)
}

// V-03: a soft problem alone refuses a batch too.
func TestASoftProblemRefuses(t *testing.T) {
	t.Parallel()
	f := newBatchFacade(t)
	_, err := f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://fine/", "http://soft/FRIDAY")})
	said, info, _ := problemsOf(t, err)
	require.Equal(t, []string{"1 SOFT FRIDAY http_change"}, said)
	require.Equal(t, "FRIDAY", info.GetReason())
	f.nothing(t)
}

// V-03: what is wrong around the batch, and an id that no service can be told, do not keep
// the world from being asked.
func TestBadIDsHideNoProblems(t *testing.T) {
	t.Parallel()
	f := newBatchFacade(t)
	b := wantedBatch("no\nid", "http://hard/TAKEN")
	_, err := f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: b, RequestId: "a b"})
	said, info, fields := problemsOf(t, err)
	require.Equal(t, []string{"batch HARD INVALID_CHARACTER id", "0 HARD TAKEN http_change"}, said)
	require.Equal(t, "request_id", info.GetMetadata()["field"])
	require.Equal(t, "3", info.GetMetadata()["problems"])
	require.Len(t, fields.GetFieldViolations(), 3)
	require.Empty(t, f.kind.of.ID)
	require.NotEmpty(t, f.kind.of.UID)
	f.nothing(t)
}

// V-03: a world that does not answer is UNAVAILABLE, unless what is known refuses the
// batch anyway.
func TestAWorldThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	f := newBatchFacade(t)
	f.kind.err = errors.New("no answer")
	_, err := f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://fine/")})
	requireReason(t, err, codes.Unavailable, reasonUnvalidated)
	_, err = f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://fine/", "")})
	said, _, _ := problemsOf(t, err)
	require.Equal(t, []string{"1 HARD REQUIRED http_change.apply_url"}, said)

	// One that is silent does not take all of the caller's time.
	f.kind.silent = true
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = f.CreateBatch(ctx, &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://fine/", "")})
	require.NoError(t, ctx.Err())
	said, _, _ = problemsOf(t, err)
	require.Equal(t, []string{"1 HARD REQUIRED http_change.apply_url"}, said)
	f.nothing(t)
}

// More changes than a batch has are counted and not looked at.
func TestTooManyChangesAreNotAskedAbout(t *testing.T) {
	t.Parallel()
	f := newBatchFacade(t)
	urls := make([]string, batch.MaxChanges+1)
	for i := range urls {
		urls[i] = "http://hard/TAKEN"
	}
	_, err := f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", urls...)})
	said, _, _ := problemsOf(t, err)
	require.Equal(t, []string{"batch HARD TOO_MANY changes"}, said)
	require.Empty(t, f.kind.asked)
	f.nothing(t)
}

// V-04: a batch without problems is stored as PENDING and started; validate_only stores
// nothing of it.
func TestAGoodBatchIsAccepted(t *testing.T) {
	t.Parallel()
	f := newBatchFacade(t)
	req := &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://one/", "http://two/"), ValidateOnly: true, RequestId: "r-1"}
	reply, err := f.CreateBatch(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, reply.GetUid()+reply.GetEtag())
	f.nothing(t)

	req.ValidateOnly = false
	reply, err = f.CreateBatch(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, gnomonv1.BatchStatus_PENDING, reply.GetStatus().GetState())
	require.EqualValues(t, 2, reply.GetStatus().GetPendingChanges())
	require.Equal(t, []string{"batch/b"}, f.temporal.started)
	got, err := f.GetBatch(t.Context(), &gnomonv1.GetBatchRequest{Id: "b"})
	require.NoError(t, err)
	require.Equal(t, reply.GetUid(), got.GetUid())

	// The same call is answered by what stands, also when its time has come since.
	f.Now = func() time.Time { return noon.Add(2 * time.Hour) }
	again, err := f.CreateBatch(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, reply.GetUid(), again.GetUid())
	require.Len(t, f.temporal.started, 1)

	_, err = f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://one/"), RequestId: "r-2"})
	said, _, _ := problemsOf(t, err)
	require.Equal(t, []string{"batch HARD TOO_EARLY scheduled_at"}, said, "another call is judged for itself")
	f.Now = func() time.Time { return noon }
	_, err = f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://one/"), RequestId: "r-2"})
	requireReason(t, err, codes.AlreadyExists, reasonBatchAlreadyExists)
	_, err = f.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wantedBatch("b", "http://one/"), RequestId: "r-1"})
	requireReason(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
}
