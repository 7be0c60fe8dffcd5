package life

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Why a command does not fit.
var (
	ErrEtag      = errors.New("the etag is not the current Guid")
	ErrNotFound  = errors.New("the action has ended")
	ErrExists    = errors.New("the action is alive")
	ErrNotPaused = errors.New("the action is not paused")
	ErrPaused    = errors.New("the action is paused")
	ErrMalformed = errors.New("malformed command")
	ErrReused    = errors.New("the command's id was used for something else")
)

// rememberedCommands is how many ids of applied commands are kept. A command comes
// twice when the facade leaves it as a signal after an update that nobody answered
// in time, within seconds; nobody sends hundreds between.
const rememberedCommands = 256

// Effect is what applying a command asks of the workflow.
type Effect struct {
	// Repeated: this command was applied before; nothing changed.
	Repeated bool
	// Supersede: no attempt of what stood before may begin, and one that runs is
	// to stop.
	Supersede bool
	// Revive: the state is that of a new incarnation.
	Revive bool
}

// Known says whether a command of this name exists.
func Known(name string) bool {
	switch name {
	case workflowv1.CommandUpdate, workflowv1.CommandPause, workflowv1.CommandResume,
		workflowv1.CommandTrigger, workflowv1.CommandCancel, workflowv1.SignalMirror, workflowv1.SignalVoid:
		return true
	default:
		return false
	}
}

// Applied says whether the command of this id was applied before.
func Applied(s *workflowv1.ActionState, id string) bool {
	_, ok := appliedDigest(s, id)
	return ok
}

// AppliedEntry is how a command is remembered in ActionState.applied_commands: its
// id, which has no spaces, and the digest of what it asked for, if it had one.
func AppliedEntry(c *workflowv1.Command) string {
	return strings.TrimSpace(c.GetId() + " " + c.GetDigest())
}

func appliedDigest(s *workflowv1.ActionState, id string) (string, bool) {
	if id == "" {
		return "", false
	}
	for _, entry := range s.GetAppliedCommands() {
		if was, digest, _ := strings.Cut(entry, " "); was == id {
			return digest, true
		}
	}
	return "", false
}

// Check says whether a command fits the state at now, without changing anything.
func Check(s *workflowv1.ActionState, name string, c *workflowv1.Command, now time.Time) error {
	if digest, ok := appliedDigest(s, c.GetId()); ok {
		if digest != "" && c.GetDigest() != "" && digest != c.GetDigest() {
			return ErrReused
		}
		return nil
	}
	ended := Ended(s.GetStatus())
	if !ended && c.GetEtag() != "" && c.GetEtag() != s.GetMeta().GetGuid() {
		return ErrEtag
	}
	switch {
	case !Known(name):
		return fmt.Errorf("%w: no command is called %q", ErrMalformed, name)
	case name == workflowv1.CommandUpdate:
		return checkUpdate(s, c, now)
	case name == workflowv1.SignalVoid:
		return nil
	case ended:
		return ErrNotFound
	case name == workflowv1.CommandResume && !s.GetPaused():
		return ErrNotPaused
	case name == workflowv1.CommandTrigger && s.GetPaused():
		return ErrPaused
	}
	return nil
}

func checkUpdate(s *workflowv1.ActionState, c *workflowv1.Command, now time.Time) error {
	ended := Ended(s.GetStatus())
	switch {
	case ended && !c.GetRevive():
		return ErrNotFound
	case !ended && c.GetCreateOnly():
		return ErrExists
	}
	for _, path := range c.GetPaths() {
		if path != "spec" && path != "meta.labels" {
			return fmt.Errorf("%w: paths: %.64q is neither spec nor meta.labels", ErrMalformed, path)
		}
	}
	switch {
	case !replacesSpec(s, c):
		now = time.Time{} // the spec was accepted before: its start_at is no news (M-11)
	case c.GetAcceptTime() != nil:
		now = c.GetAcceptTime().AsTime()
	}
	if bad := action.Validate(merge(s, c), now, action.Options{AllowMock: true}); len(bad) > 0 {
		return fmt.Errorf("%w: %s: %s", ErrMalformed, bad[0].Field, bad[0].Description)
	}
	return nil
}

// merge is the action as an update wants it.
func merge(s *workflowv1.ActionState, c *workflowv1.Command) *gnomonv1.ScheduledAction {
	want := c.GetAction()
	merged := &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: s.GetMeta().GetId(), Labels: s.GetMeta().GetLabels()},
		Spec: s.GetSpec(),
	}
	all := len(c.GetPaths()) == 0 || Ended(s.GetStatus())
	if replacesSpec(s, c) {
		merged.Spec = want.GetSpec()
	}
	if all && want.GetMeta() != nil || slices.Contains(c.GetPaths(), "meta.labels") {
		merged.Meta.Labels = want.GetMeta().GetLabels()
	}
	return merged
}

// replacesSpec says whether an update brings a spec of its own; what has ended is
// made anew from the command alone.
func replacesSpec(s *workflowv1.ActionState, c *workflowv1.Command) bool {
	return len(c.GetPaths()) == 0 || Ended(s.GetStatus()) || slices.Contains(c.GetPaths(), "spec")
}

// Apply applies a command that Check accepts, at now; guid is the new Guid where
// the command brings none. Every command id is applied once.
func Apply(s *workflowv1.ActionState, name string, c *workflowv1.Command, now time.Time, guid string) (Effect, error) {
	if err := Check(s, name, c, now); err != nil {
		return Effect{}, err
	}
	if Applied(s, c.GetId()) {
		return Effect{Repeated: true}, nil
	}
	if c.GetId() != "" {
		s.AppliedCommands = append(s.AppliedCommands, AppliedEntry(c))
		if over := len(s.GetAppliedCommands()) - rememberedCommands; over > 0 {
			s.AppliedCommands = slices.Delete(s.GetAppliedCommands(), 0, over)
		}
	}
	switch name {
	case workflowv1.CommandUpdate:
		return update(s, c, now, guid), nil
	case workflowv1.CommandCancel:
		s.DeletedBy = c.GetId()
		finish(s, gnomonv1.Status_DELETED)
		return Effect{Supersede: true}, nil
	case workflowv1.CommandPause:
		pause(s)
	case workflowv1.CommandResume:
		resume(s, now)
	case workflowv1.CommandTrigger:
		trigger(s, now)
	case workflowv1.SignalMirror:
		Owe(s)
	}
	return Effect{}, nil
}

func update(s *workflowv1.ActionState, c *workflowv1.Command, now time.Time, guid string) Effect {
	merged := merge(s, c)
	merged.Meta.Guid = guid
	if g := c.GetAction().GetMeta().GetGuid(); g != "" {
		merged.Meta.Guid = g
	}
	ended := Ended(s.GetStatus())
	if !ended && !replacesSpec(s, c) {
		return relabel(s, merged.GetMeta(), now)
	}
	next := New(merged, now, s.GetCreateRequestId())
	if ended {
		// A new incarnation, ordered after the old one whatever the clock says.
		next.CreateRequestId = c.GetId()
		next.AppliedCommands = s.GetAppliedCommands()
		at := now
		if old := s.GetIncarnation().AsTime(); !at.After(old) {
			at = old.Add(time.Microsecond)
		}
		next.Incarnation = timestamppb.New(at)
		next.Version = s.GetVersion()
		next.MirrorOwed = true
		// Goes on counting: a row of the old incarnation that is being stored must not
		// be taken for the new one's.
		next.Sequence = s.GetSequence() + 1
		proto.Reset(s)
		proto.Merge(s, next)
		return Effect{Revive: true, Supersede: true}
	}
	next.Meta.CreateTime = s.GetMeta().GetCreateTime()
	s.Meta, s.Spec, s.Status = next.GetMeta(), next.GetSpec(), next.GetStatus()
	s.Occurrence, s.Triggered, s.Performing = nil, false, 0
	if s.GetPaused() {
		s.Status.State = gnomonv1.Status_PAUSED
	}
	Owe(s)
	return Effect{Supersede: true}
}

// relabel changes labels alone: the spec stands, and so do its Status and its
// attempts. The Guid changes with every change, since it is the etag too (M-07).
func relabel(s *workflowv1.ActionState, m *gnomonv1.Meta, now time.Time) Effect {
	s.Meta.Labels, s.Meta.Guid, s.Meta.UpdateTime = m.GetLabels(), m.GetGuid(), Stamp(now)
	Owe(s)
	return Effect{}
}

func pause(s *workflowv1.ActionState) {
	if s.GetPaused() {
		return
	}
	s.Paused = true
	s.Status.State = gnomonv1.Status_PAUSED
	Owe(s)
}

// resume goes on: a once-action whose time has passed is due at once, a periodic
// one with the next tick after now, whatever was missed. An occurrence whose
// attempts run still goes on as if there had been no pause.
func resume(s *workflowv1.ActionState, now time.Time) {
	s.Paused = false
	Owe(s)
	switch {
	case s.GetPerforming() != 0:
		s.Status.State = gnomonv1.Status_RUNNING
		return
	case !action.Periodic(s.GetSpec()):
		s.Status.State = gnomonv1.Status_SCHEDULED
		if s.GetOccurrence() != nil {
			s.Status.State = gnomonv1.Status_RETRYING
		}
		return
	}
	if retry := s.GetOccurrence().GetNotBefore(); retry != nil && !retry.AsTime().Before(now) {
		// It was not missed: goes on as where the server times the retry.
		s.Status.State = gnomonv1.Status_RETRYING
		return
	}
	// scheduled_at may be that of a retry, which is dropped with its occurrence.
	s.Occurrence = nil
	s.Status.State = gnomonv1.Status_SCHEDULED
	s.Status.ScheduledAt = nextAfter(s, now)
}

// nextAfter is the tick after now, nil if there is none.
func nextAfter(s *workflowv1.ActionState, now time.Time) *timestamppb.Timestamp {
	if tick, ok := action.NextDue(s.GetSpec(), s.GetMeta().GetId(), now); ok {
		return Stamp(tick)
	}
	return nil
}

// trigger wants an occurrence now. A once-action that is being performed needs no
// more; one that waits for its retry does not wait any longer where the workflow
// holds it, and goes on as planned where the server does.
func trigger(s *workflowv1.ActionState, now time.Time) {
	switch {
	case action.Periodic(s.GetSpec()) || s.GetOccurrence() == nil:
		s.Triggered = true
	case s.GetPerforming() == 0:
		s.Occurrence.NotBefore = Stamp(now)
	}
}

// Malformed records a signal that could not be read or applied, for a person to
// see; it changes nothing else.
func Malformed(s *workflowv1.ActionState, name string, why error, now time.Time) {
	s.MalformedSignals++
	SetCondition(s.GetStatus(), &gnomonv1.Condition{
		Type: ConditionCommandsAccepted, Status: gnomonv1.Condition_FALSE, Reason: "MALFORMED_SIGNAL",
		Message:            fmt.Sprintf("signal %.64q dropped: %.200s", name, why),
		LastTransitionTime: Stamp(now),
	})
	Owe(s)
}
