package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/worker"
)

// moves are all that an operator can do to a batch, each well-formed, and how REST says
// it.
func (b *bureau) moves() map[string]struct {
	grpc func(ctx context.Context, id string) error
	rest string // after /v1/batches/{id}
	body string
} {
	later := time.Now().Add(time.Hour)
	at := later.UTC().Format(time.RFC3339)
	type m = struct {
		grpc func(ctx context.Context, id string) error
		rest string
		body string
	}
	review := func(d gnomonv1.ReviewBatchRequest_Decision) func(context.Context, string) error {
		return func(ctx context.Context, id string) error {
			req := &gnomonv1.ReviewBatchRequest{Id: id, Decision: d}
			if d == gnomonv1.ReviewBatchRequest_RESCHEDULE {
				req.ScheduledAt = stamp(later)
			}
			_, err := b.calls.ReviewBatch(ctx, req)
			return err
		}
	}
	return map[string]m{
		"cancel": {func(ctx context.Context, id string) error {
			_, err := b.calls.CancelBatch(ctx, &gnomonv1.CancelBatchRequest{Id: id})
			return err
		}, ":cancel", "{}"},
		"reschedule": {func(ctx context.Context, id string) error {
			_, err := b.calls.RescheduleBatch(ctx, &gnomonv1.RescheduleBatchRequest{Id: id, ScheduledAt: stamp(later)})
			return err
		}, ":reschedule", `{"scheduledAt":"` + at + `"}`},
		"review RETRY":      {review(gnomonv1.ReviewBatchRequest_RETRY), ":review", `{"decision":"RETRY"}`},
		"review RESCHEDULE": {review(gnomonv1.ReviewBatchRequest_RESCHEDULE), ":review", `{"decision":"RESCHEDULE","scheduledAt":"` + at + `"}`},
		"review CANCEL":     {review(gnomonv1.ReviewBatchRequest_CANCEL), ":review", `{"decision":"CANCEL"}`},
	}
}

// V-18, V-20; issue 5, 'It is done when': every illegal move of an operator, in every
// state, gets FAILED_PRECONDITION with the state, over gRPC and REST, and changes
// nothing.
func TestBatchIllegalMoves(t *testing.T) {
	t.Parallel()
	// Two workers' turns: one is held by the batch that is being processed.
	b := openBureau(t, func(c *worker.Config) { c.HeartbeatTimeout = 5 * time.Second })
	b.employ(t)
	ids := b.standInEveryState(t)
	refused := 0
	for number, name := range gnomonv1.BatchStatus_State_name {
		state := gnomonv1.BatchStatus_State(number)
		if state == gnomonv1.BatchStatus_STATE_UNSPECIFIED {
			continue
		}
		id := ids[state]
		require.NotEmpty(t, id, "no batch is %s", name)
		before := b.get(t, id)
		require.Equal(t, state, before.GetStatus().GetState())
		events := len(b.history(t, workflowv1.BatchWorkflowID(id)))
		for move, m := range b.moves() {
			if legal(state, move) {
				continue
			}
			refused++
			err := m.grpc(t.Context(), id)
			require.Equal(t, codes.FailedPrecondition, status.Code(err), "%s while %s: %v", move, name, err)
			info := &errdetails.ErrorInfo{}
			for _, d := range status.Convert(err).Details() {
				if found, ok := d.(*errdetails.ErrorInfo); ok {
					info = found
				}
			}
			require.Equal(t, "BATCH_STATE", info.GetReason())
			require.Equal(t, map[string]string{"id": id, "state": name}, info.GetMetadata(), move)
			require.Contains(t, status.Convert(err).Message(), name)

			code, body := b.post(t, "/v1/batches/"+id+m.rest, m.body)
			require.Equal(t, http.StatusBadRequest, code, body)
			require.Contains(t, body, fmt.Sprintf(`"state":%q`, name), move)
		}
		require.True(t, proto.Equal(before, b.get(t, id)), "%s has changed", name)
		require.Len(t, b.history(t, workflowv1.BatchWorkflowID(id)), events, "a refused update leaves no event")
	}
	require.Equal(t, 7*5-5, refused, "5 moves in 7 states, 5 of them legal")
}

// legal says which moves a state allows.
func legal(state gnomonv1.BatchStatus_State, move string) bool {
	switch state {
	case gnomonv1.BatchStatus_PENDING:
		return move == "cancel" || move == "reschedule"
	case gnomonv1.BatchStatus_MANUAL_REVIEW:
		return strings.HasPrefix(move, "review ")
	default:
		return false
	}
}

// standInEveryState has a batch in each state, for as long as the test lasts.
func (b *bureau) standInEveryState(t *testing.T) map[gnomonv1.BatchStatus_State]string {
	t.Helper()
	ids := map[gnomonv1.BatchStatus_State]string{}
	for number, name := range gnomonv1.BatchStatus_State_name {
		ids[gnomonv1.BatchStatus_State(number)] = b.id(strings.ToLower(name))
	}
	held, review := ids[gnomonv1.BatchStatus_PROCESSING], ids[gnomonv1.BatchStatus_MANUAL_REVIEW]
	partial, failed := ids[gnomonv1.BatchStatus_PARTIAL_FAILURE], ids[gnomonv1.BatchStatus_FAILED]
	b.other.hold(place(held, 1))
	b.other.set(func() {
		b.other.answers[place(partial, 0)] = 400
		b.other.answers[place(failed, 0)], b.other.answers[place(failed, 1)] = 400, 400
	})
	b.submit(t, b.of(held, 2, time.Second))
	b.other.begun(t, place(held, 1))
	for _, state := range []gnomonv1.BatchStatus_State{
		gnomonv1.BatchStatus_MANUAL_REVIEW, gnomonv1.BatchStatus_COMPLETE, gnomonv1.BatchStatus_PARTIAL_FAILURE, gnomonv1.BatchStatus_FAILED,
	} {
		b.submit(t, b.of(ids[state], 2, 2*time.Second))
	}
	b.other.set(func() { b.other.hard[place(review, 0)] = "GONE" })
	b.submit(t, b.of(ids[gnomonv1.BatchStatus_PENDING], 2, time.Hour))
	b.submit(t, b.of(ids[gnomonv1.BatchStatus_CANCELLED], 2, time.Hour))
	_, err := b.calls.CancelBatch(t.Context(), &gnomonv1.CancelBatchRequest{Id: ids[gnomonv1.BatchStatus_CANCELLED]})
	require.NoError(t, err)
	for state, id := range ids {
		switch state {
		case gnomonv1.BatchStatus_COMPLETE, gnomonv1.BatchStatus_PARTIAL_FAILURE, gnomonv1.BatchStatus_FAILED, gnomonv1.BatchStatus_CANCELLED:
			require.Equal(t, state, b.ends(t, id).GetState())
		case gnomonv1.BatchStatus_MANUAL_REVIEW:
			b.comes(t, id, state)
			b.other.until(t, "people are told", func() bool { return len(b.other.notesOf(id)) == 1 })
			b.settles(t, id)
		case gnomonv1.BatchStatus_PROCESSING:
			eventually(t, startWithin, "its progress is told", func() bool {
				return b.shows(t, id, "1 of 2 changes are finished")
			})
			b.settles(t, id)
		case gnomonv1.BatchStatus_PENDING:
			b.settles(t, id)
		default:
		}
	}
	return ids
}

// post is a call over REST.
func (b *bureau) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, strings.ReplaceAll(string(text), `": "`, `":"`)
}
