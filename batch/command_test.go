package batch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// moves are all commands, each well-formed.
func moves() map[string]*workflowv1.BatchCommand {
	later := timestamppb.New(due.Add(time.Hour))
	return map[string]*workflowv1.BatchCommand{
		"cancel":            {},
		"reschedule":        {ScheduledAt: later},
		"review RETRY":      {Decision: gnomonv1.ReviewBatchRequest_RETRY},
		"review RESCHEDULE": {Decision: gnomonv1.ReviewBatchRequest_RESCHEDULE, ScheduledAt: later},
		"review CANCEL":     {Decision: gnomonv1.ReviewBatchRequest_CANCEL},
	}
}

// V-18, V-20: every move in every state.
func TestEveryMoveInEveryState(t *testing.T) {
	t.Parallel()
	legal := map[string]gnomonv1.BatchStatus_State{
		"PENDING cancel":                  gnomonv1.BatchStatus_CANCELLED,
		"PENDING reschedule":              gnomonv1.BatchStatus_PENDING,
		"MANUAL_REVIEW review RETRY":      gnomonv1.BatchStatus_PROCESSING,
		"MANUAL_REVIEW review RESCHEDULE": gnomonv1.BatchStatus_PENDING,
		"MANUAL_REVIEW review CANCEL":     gnomonv1.BatchStatus_CANCELLED,
	}
	for number, state := range gnomonv1.BatchStatus_State_name {
		for move, c := range moves() {
			s := in(gnomonv1.BatchStatus_State(number))
			before := proto.CloneOf(s)
			name, _, _ := strings.Cut(move, " ")
			err := Apply(s, name, c, now)
			want, ok := legal[state+" "+move]
			if !ok {
				require.ErrorIs(t, err, ErrState, "%s in %s", move, state)
				require.EqualError(t, err, "the batch is "+state)
				require.True(t, proto.Equal(before, s), "%s in %s changed something", move, state)
				continue
			}
			require.NoError(t, err, "%s in %s", move, state)
			require.Equal(t, want, s.GetHead().GetStatus().GetState())
			require.Equal(t, before.GetHead().GetRevision()+1, s.GetHead().GetRevision())
			require.True(t, s.GetOwed())
			require.NotNil(t, s.GetHead().GetStatus().GetLastDecision())
		}
	}
}

func TestReschedulingMovesTheTime(t *testing.T) {
	t.Parallel()
	s := pending()
	at := due.Add(time.Hour + 1999)
	require.NoError(t, Apply(s, "reschedule", &workflowv1.BatchCommand{ScheduledAt: timestamppb.New(at), Comment: "later"}, now))
	require.True(t, s.GetHead().GetScheduledAt().AsTime().Equal(at.Truncate(time.Microsecond)))
	require.Equal(t, "reschedule", s.GetHead().GetStatus().GetLastDecision().GetDecision())
	require.Equal(t, "later", s.GetHead().GetStatus().GetLastDecision().GetComment())
	require.Zero(t, s.GetHead().GetStatus().GetRound())
}

// V-20: a time in the past is refused, by the facade's clock where it has judged.
func TestTimesInThePastAreRefused(t *testing.T) {
	t.Parallel()
	c := &workflowv1.BatchCommand{ScheduledAt: timestamppb.New(due)}
	require.ErrorIs(t, Apply(pending(), "reschedule", c, due), ErrMalformed)
	c.AcceptTime = timestamppb.New(now)
	require.NoError(t, Apply(pending(), "reschedule", c, due.Add(time.Hour)), "left while no worker ran")
}

func TestMalformedCommandsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*workflowv1.BatchCommand{
		"explode":    {},
		"review":     {},
		"reschedule": {},
		"cancel":     {Comment: strings.Repeat("x", MaxCommentLength+1)},
	} {
		require.ErrorIs(t, Check(in(Allowed(name)), name, c, now), ErrMalformed, name)
	}
}

func TestEtagsAreCompared(t *testing.T) {
	t.Parallel()
	s := pending()
	require.ErrorIs(t, Apply(s, "cancel", &workflowv1.BatchCommand{Etag: "other"}, now), ErrEtag)
	seen := Etag(s.GetHead().GetUid(), s.GetHead().GetRevision())
	require.NoError(t, Apply(s, "reschedule", &workflowv1.BatchCommand{Etag: seen, ScheduledAt: timestamppb.New(due)}, now))
	require.ErrorIs(t, Apply(s, "cancel", &workflowv1.BatchCommand{Etag: seen}, now), ErrEtag, "it has changed since")
}

// A command that comes as an update and as a signal is applied once.
func TestCommandsAreAppliedOnce(t *testing.T) {
	t.Parallel()
	s := pending()
	c := &workflowv1.BatchCommand{Id: "r", Digest: "d", ScheduledAt: timestamppb.New(due)}
	require.NoError(t, Apply(s, "reschedule", c, now))
	after := proto.CloneOf(s)
	require.NoError(t, Apply(s, "reschedule", c, now.Add(time.Minute)))
	require.True(t, proto.Equal(after, s))
	require.ErrorIs(t, Apply(s, "reschedule", &workflowv1.BatchCommand{Id: "r", Digest: "e", ScheduledAt: timestamppb.New(due)}, now), ErrReused)
	for i := range rememberedCommands {
		require.NoError(t, Apply(s, "reschedule", &workflowv1.BatchCommand{Id: fmt.Sprint(i), ScheduledAt: timestamppb.New(due)}, now))
	}
	require.Len(t, s.GetAppliedCommands(), rememberedCommands)
}

// Temporal's own cancellation fits wherever a person could end the batch.
func TestCancellation(t *testing.T) {
	t.Parallel()
	for _, state := range []gnomonv1.BatchStatus_State{gnomonv1.BatchStatus_PENDING, gnomonv1.BatchStatus_MANUAL_REVIEW} {
		s := in(state)
		name, c := Cancellation(s)
		require.NoError(t, Apply(s, name, c, now))
		require.Equal(t, gnomonv1.BatchStatus_CANCELLED, s.GetHead().GetStatus().GetState())
	}
	name, c := Cancellation(in(gnomonv1.BatchStatus_PROCESSING))
	require.ErrorIs(t, Check(in(gnomonv1.BatchStatus_PROCESSING), name, c, now), ErrState)
}
