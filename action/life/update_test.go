package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-07, M-42, M-43: an update is a new incarnation: the new Guid, a Status that
// starts afresh, a budget that was not spent, and nothing of the old spec goes on.
func TestUpdateStartsAfresh(t *testing.T) {
	t.Parallel()
	s := state(once(t1(2)))
	attempt(t, s, start, failed(start))
	life.Begin(s, start.Add(2*time.Second))
	later := start.Add(3 * time.Second)
	effect := command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{Id: "c", Action: wanted(periodic(time.Minute, nil), "guid-2")}, later)
	require.Equal(t, life.Effect{Supersede: true}, effect)
	require.True(t, proto.Equal(&gnomonv1.Status{State: gnomonv1.Status_SCHEDULED, ScheduledAt: life.Stamp(start)}, s.GetStatus()))
	require.Equal(t, "guid-2", s.GetMeta().GetGuid())
	require.Equal(t, accepted, at(s.GetMeta().GetCreateTime()))
	require.Equal(t, later, at(s.GetMeta().GetUpdateTime()))
	require.Equal(t, accepted, at(s.GetIncarnation()), "rows are ordered by the sequence within one run's chain")
	require.Nil(t, s.GetOccurrence())
	require.Zero(t, s.GetPerforming())
	require.True(t, s.GetMirrorOwed())
	require.True(t, life.Applied(s, "c"))
}

// M-07: an update sent by hand gets the workflow's Guid.
func TestUpdateWithoutAGuid(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{Action: wanted(once(nil), "")}, accepted)
	require.Equal(t, "guid-minted", s.GetMeta().GetGuid())
}

// The id is the workflow's, whatever the command says.
func TestUpdateKeepsTheId(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	a := wanted(once(nil), "guid-2")
	a.Meta.Id = "b"
	command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{Action: a}, accepted)
	require.Equal(t, "a", s.GetMeta().GetId())
}

// An update does not unpause.
func TestUpdateWhilePaused(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	command(t, s, workflowv1.CommandPause, none, accepted)
	command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{Action: wanted(once(nil), "guid-2")}, accepted)
	require.True(t, s.GetPaused())
	require.Equal(t, gnomonv1.Status_PAUSED, s.GetStatus().GetState())
	require.Equal(t, life.Wait, life.Next(s, start).Step)
}

// An update forgets a trigger of the old spec.
func TestUpdateForgetsATrigger(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	command(t, s, workflowv1.CommandTrigger, none, accepted)
	command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{Action: wanted(once(nil), "guid-2")}, accepted)
	require.Equal(t, life.Decision{Step: life.Wait, Until: start}, life.Next(s, accepted))
}

// Paths name what is replaced; what they do not name stays.
func TestUpdateOfParts(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	s.Meta.Labels = map[string]string{"team": "a"}
	command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{
		Action: wanted(periodic(time.Minute, nil), "guid-2"), Paths: []string{"spec"},
	}, accepted)
	require.Equal(t, map[string]string{"team": "a"}, s.GetMeta().GetLabels())
	require.NotNil(t, s.GetSpec().GetSendPolicy().GetSendPeriodicallyPolicy())

	a := &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Guid: "guid-3", Labels: map[string]string{"team": "b"}}}
	command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{Action: a, Paths: []string{"meta.labels"}}, accepted)
	require.Equal(t, map[string]string{"team": "b"}, s.GetMeta().GetLabels())
	require.NotNil(t, s.GetSpec().GetSendPolicy().GetSendPeriodicallyPolicy())
	require.Equal(t, "guid-3", s.GetMeta().GetGuid())
}

// New labels alone: a new Guid, since it is the etag, but the spec stands, so that
// neither its start_at is judged again, nor its Status starts afresh, nor the
// occurrence that has begun is superseded (M-07, M-42).
func TestUpdateOfLabelsAlone(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Hour, nil))
	s.Status.FailedAttemptsCounter = 3
	life.Begin(s, start)
	before := proto.CloneOf(s)
	later := start.Add(24*time.Hour + time.Minute)
	effect := command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{
		Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Guid: "guid-2", Labels: map[string]string{"team": "b"}}},
		Paths:  []string{"meta.labels"},
	}, later)
	require.Equal(t, life.Effect{}, effect)
	require.Equal(t, map[string]string{"team": "b"}, s.GetMeta().GetLabels())
	require.Equal(t, "guid-2", s.GetMeta().GetGuid())
	require.Equal(t, later, at(s.GetMeta().GetUpdateTime()))
	require.True(t, s.GetMirrorOwed())
	for name, pair := range map[string][2]proto.Message{
		"spec":       {before.GetSpec(), s.GetSpec()},
		"status":     {before.GetStatus(), s.GetStatus()},
		"occurrence": {before.GetOccurrence(), s.GetOccurrence()},
	} {
		require.True(t, proto.Equal(pair[0], pair[1]), name)
	}
	require.Equal(t, before.GetPerforming(), s.GetPerforming())
}

// M-60: what has ended is made anew, as a new incarnation whose rows come after all
// of the old one's whatever the clocks say.
func TestRevive(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]time.Time{"later": accepted.Add(time.Second), "same moment": accepted, "clock went back": accepted.Add(-time.Second)} {
		s := state(once(nil))
		s.Paused, s.MalformedSignals, s.Version = true, 3, 7
		command(t, s, workflowv1.CommandCancel, &workflowv1.Command{Id: "c-1"}, accepted)
		c := &workflowv1.Command{Id: "c-2", Etag: "any", Action: wanted(once(nil), "guid-2"), Revive: true, CreateOnly: true}
		require.Equal(t, life.Effect{Supersede: true, Revive: true}, command(t, s, workflowv1.CommandUpdate, c, now), name)
		require.True(t, at(s.GetIncarnation()).After(accepted), name)
		require.EqualValues(t, 2, s.GetSequence(), "the deletion's row, which may be being stored, is not this one's")
		require.True(t, proto.Equal(&gnomonv1.Status{State: gnomonv1.Status_SCHEDULED, ScheduledAt: life.Stamp(start)}, s.GetStatus()), name)
		require.Equal(t, now, at(s.GetMeta().GetCreateTime()), name)
		require.Equal(t, "c-2", s.GetCreateRequestId(), name)
		require.Equal(t, []string{"c-1", "c-2"}, s.GetAppliedCommands(), name)
		require.EqualValues(t, 7, s.GetVersion(), name)
		require.False(t, s.GetPaused(), name)
		require.Zero(t, s.GetMalformedSignals(), name)
		require.True(t, s.GetMirrorOwed(), name)

		// A second one of the same kind meets a living action.
		c = &workflowv1.Command{Id: "c-3", Action: wanted(once(nil), "guid-3"), Revive: true, CreateOnly: true}
		require.ErrorIs(t, life.Check(s, workflowv1.CommandUpdate, c, now), life.ErrExists, name)
	}
}
