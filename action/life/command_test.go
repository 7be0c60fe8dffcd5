package life_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// What each command is refused for, and that a refusal changes nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	update := func(change func(*workflowv1.Command)) *workflowv1.Command {
		c := &workflowv1.Command{Action: wanted(once(nil), "guid-2")}
		change(c)
		return c
	}
	alive := state(once(nil))
	over := state(once(nil))
	command(t, over, workflowv1.CommandCancel, none, accepted)
	for name, c := range map[string]struct {
		state   *workflowv1.ActionState
		name    string
		command *workflowv1.Command
		want    error
	}{
		"wrong etag":              {alive, workflowv1.CommandPause, &workflowv1.Command{Etag: "guid-0"}, life.ErrEtag},
		"wrong etag of an update": {alive, workflowv1.CommandUpdate, update(func(c *workflowv1.Command) { c.Etag = "guid-0" }), life.ErrEtag},
		"unknown command":         {alive, "explode", none, life.ErrMalformed},
		"create only":             {alive, workflowv1.CommandUpdate, update(func(c *workflowv1.Command) { c.CreateOnly = true }), life.ErrExists},
		"update without action":   {alive, workflowv1.CommandUpdate, none, life.ErrMalformed},
		"update without spec":     {alive, workflowv1.CommandUpdate, update(func(c *workflowv1.Command) { c.Action.Spec = nil }), life.ErrMalformed},
		"start too early": {alive, workflowv1.CommandUpdate, update(func(c *workflowv1.Command) {
			c.AcceptTime = life.Stamp(start.Add(10*time.Minute + time.Microsecond))
		}), life.ErrMalformed},
		"update after the end": {over, workflowv1.CommandUpdate, update(func(*workflowv1.Command) {}), life.ErrNotFound},
		"pause after the end":  {over, workflowv1.CommandPause, none, life.ErrNotFound},
		"resume after the end": {over, workflowv1.CommandResume, none, life.ErrNotFound},
		"cancel after the end": {over, workflowv1.CommandCancel, none, life.ErrNotFound},
		"mirror after the end": {over, workflowv1.SignalMirror, none, life.ErrNotFound},
	} {
		before := proto.CloneOf(c.state)
		_, err := life.Apply(c.state, c.name, c.command, accepted, "guid-minted")
		require.ErrorIs(t, err, c.want, name)
		require.True(t, proto.Equal(before, c.state), name)
	}
}

// M-11: a command is judged by when the facade accepted it, so that one which waited
// for a worker is not refused for that, to the microsecond.
func TestUpdateIsJudgedByItsAcceptTime(t *testing.T) {
	t.Parallel()
	late := start.Add(time.Hour)
	c := &workflowv1.Command{Action: wanted(once(nil), "guid-2")}
	require.ErrorIs(t, life.Check(state(once(nil)), workflowv1.CommandUpdate, c, late), life.ErrMalformed)
	c.AcceptTime = life.Stamp(start.Add(10 * time.Minute))
	require.NoError(t, life.Check(state(once(nil)), workflowv1.CommandUpdate, c, late))
}

// P-02: every command id is applied once, however often and however it comes.
func TestCommandIdsAreAppliedOnce(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, nil))
	c := &workflowv1.Command{Id: "c-1"}
	require.False(t, command(t, s, workflowv1.CommandPause, c, accepted).Repeated)
	command(t, s, workflowv1.CommandResume, &workflowv1.Command{Id: "c-2"}, accepted)
	before := proto.CloneOf(s)
	require.True(t, command(t, s, workflowv1.CommandPause, c, accepted).Repeated)
	require.NoError(t, life.Check(s, workflowv1.CommandResume, &workflowv1.Command{Id: "c-2"}, accepted))
	require.True(t, proto.Equal(before, s))
	require.False(t, life.Applied(s, ""))
}

// A delete that comes twice is answered twice, not refused.
func TestRepeatedCancel(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	c := &workflowv1.Command{Id: "c-1", Etag: "guid-1"}
	require.Equal(t, life.Effect{Supersede: true}, command(t, s, workflowv1.CommandCancel, c, accepted))
	require.Equal(t, gnomonv1.Status_DELETED, s.GetStatus().GetState())
	require.Equal(t, life.Effect{Repeated: true}, command(t, s, workflowv1.CommandCancel, c, accepted))
}

// What is remembered of commands is bounded, and the newest stay.
func TestAppliedCommandsAreBounded(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, nil))
	for i := range 1000 {
		command(t, s, workflowv1.CommandTrigger, &workflowv1.Command{Id: fmt.Sprint(i)}, accepted)
	}
	require.Len(t, s.GetAppliedCommands(), 256)
	require.True(t, life.Applied(s, "999"))
	require.True(t, life.Applied(s, "744"))
	require.False(t, life.Applied(s, "743"))
}

// P-02: a malformed signal is recorded for a person to see, shortened, and changes
// nothing of the schedule.
func TestMalformed(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	life.Malformed(s, strings.Repeat("n", 5000), errors.New(strings.Repeat("w", 5000)), start)
	life.Malformed(s, "explode", errors.New("no command has this name"), start.Add(time.Second))
	require.EqualValues(t, 2, s.GetMalformedSignals())
	require.Len(t, s.GetStatus().GetConditions(), 1)
	require.True(t, proto.Equal(&gnomonv1.Condition{
		Type: life.ConditionCommandsAccepted, Status: gnomonv1.Condition_FALSE, Reason: "MALFORMED_SIGNAL",
		Message:            `signal "explode" dropped: no command has this name`,
		LastTransitionTime: life.Stamp(start),
	}, s.GetStatus().GetConditions()[0]))
	require.True(t, s.GetMirrorOwed())
	require.Equal(t, life.Decision{Step: life.Wait, Until: start}, life.Next(s, accepted))

	life.Malformed(s, strings.Repeat("n", 5000), errors.New(strings.Repeat("w", 5000)), start)
	require.Less(t, len(s.GetStatus().GetConditions()[0].GetMessage()), 400)
}

// Whatever commands come in whatever order, Apply refuses exactly what Check does,
// the state stays one that can be decided about, an end stays an end unless it is
// revived, and the sequence of the rows never falls within an incarnation.
func TestAnyCommandsInAnyOrder(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{
		workflowv1.CommandUpdate, workflowv1.CommandPause, workflowv1.CommandResume, workflowv1.CommandTrigger,
		workflowv1.CommandCancel, workflowv1.SignalMirror, "explode",
	})
	rapid.Check(t, func(t *rapid.T) {
		sp := once(t1(2))
		if rapid.Bool().Draw(t, "periodic") {
			sp = periodic(time.Second, t1(2))
		}
		s := state(sp)
		now := accepted
		for range rapid.IntRange(1, 20).Draw(t, "commands") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			name := names.Draw(t, "name")
			c := &workflowv1.Command{
				Id:         rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "id"),
				Etag:       rapid.SampledFrom([]string{"", "", "guid-1"}).Draw(t, "etag"),
				Action:     wanted(sp, ""),
				Revive:     rapid.Bool().Draw(t, "revive"),
				CreateOnly: rapid.Bool().Draw(t, "create_only"),
			}
			ended, before := life.Ended(s.GetStatus()), proto.CloneOf(s)
			refused := life.Check(s, name, c, now)
			effect, err := life.Apply(s, name, c, now, "guid-minted")
			require.Equal(t, refused, err)
			if err != nil || effect.Repeated {
				require.True(t, proto.Equal(before, s))
			}
			require.Equal(t, ended && !effect.Revive || err == nil && name == workflowv1.CommandCancel && !effect.Repeated, life.Ended(s.GetStatus()))
			if effect.Revive {
				require.True(t, at(s.GetIncarnation()).After(at(before.GetIncarnation())))
			} else {
				require.GreaterOrEqual(t, s.GetSequence(), before.GetSequence())
			}
			switch d := life.Next(s, now); d.Step {
			case life.Wait:
				require.True(t, d.Until.After(now) || s.GetPaused())
			case life.Perform:
				life.Begin(s, now)
				require.False(t, s.GetPaused())
			}
		}
	})
}
