package batch

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Why a command does not fit.
var (
	ErrEtag      = errors.New("the etag is not the current one")
	ErrMalformed = errors.New("malformed command")
	ErrReused    = errors.New("the command's id was used for something else")
	// ErrState is wrapped by StateError.
	ErrState = errors.New("the batch's state does not allow the command")
)

// StateError says that a command does not fit the state (V-18, V-20).
type StateError struct{ State gnomonv1.BatchStatus_State }

// Error names the state.
func (e *StateError) Error() string { return "the batch is " + e.State.String() }

// Is makes it an ErrState.
func (*StateError) Is(target error) bool { return target == ErrState }

// rememberedCommands is how many ids of applied commands are kept.
const rememberedCommands = 256

// Names of decisions in BatchDecision.decision.
const (
	DecisionCancel     = "cancel"
	DecisionReschedule = "reschedule"
	DecisionRetry      = "retry"
)

// Allowed says in which state a command may come: a person may cancel and reschedule what
// is pending, and must review what is in review (V-18, V-20).
func Allowed(name string) gnomonv1.BatchStatus_State {
	if name == workflowv1.CommandReview {
		return gnomonv1.BatchStatus_MANUAL_REVIEW
	}
	return gnomonv1.BatchStatus_PENDING
}

// Check says whether a command fits the state at now, without changing anything.
func Check(s *workflowv1.BatchState, name string, c *workflowv1.BatchCommand, now time.Time) error {
	if digest, ok := applied(s, c.GetId()); ok {
		if digest != "" && c.GetDigest() != "" && digest != c.GetDigest() {
			return ErrReused
		}
		return nil
	}
	if err := wellFormed(name, c, now); err != nil {
		return err
	}
	if etag := c.GetEtag(); etag != "" && etag != Etag(s.GetHead().GetUid(), s.GetHead().GetRevision()) {
		return ErrEtag
	}
	if state := s.GetHead().GetStatus().GetState(); state != Allowed(name) {
		return &StateError{State: state}
	}
	return nil
}

// wellFormed judges what a command says, whatever the batch's state.
func wellFormed(name string, c *workflowv1.BatchCommand, now time.Time) error {
	if c.GetAcceptTime() != nil {
		now = c.GetAcceptTime().AsTime()
	}
	bad := ValidateComment(c.GetComment())
	switch name {
	case workflowv1.CommandCancel:
	case workflowv1.CommandReschedule:
		bad = ValidateReschedule(c.GetScheduledAt(), c.GetComment(), now)
	case workflowv1.CommandReview:
		switch c.GetDecision() {
		case gnomonv1.ReviewBatchRequest_RETRY, gnomonv1.ReviewBatchRequest_CANCEL:
		case gnomonv1.ReviewBatchRequest_RESCHEDULE:
			bad = ValidateReschedule(c.GetScheduledAt(), c.GetComment(), now)
		default:
			return fmt.Errorf("%w: decision must be RETRY, RESCHEDULE or CANCEL", ErrMalformed)
		}
	default:
		return fmt.Errorf("%w: no command is called %.64q", ErrMalformed, name)
	}
	if len(bad) > 0 {
		return fmt.Errorf("%w: %s: %s", ErrMalformed, bad[0].Field, bad[0].Description)
	}
	return nil
}

// Apply applies a command that Check accepts. Every command id is applied once.
func Apply(s *workflowv1.BatchState, name string, c *workflowv1.BatchCommand, now time.Time) error {
	if err := Check(s, name, c, now); err != nil {
		return err
	}
	if _, again := applied(s, c.GetId()); again {
		return nil
	}
	remember(s, c)
	decision := name
	if name == workflowv1.CommandReview {
		decision = map[gnomonv1.ReviewBatchRequest_Decision]string{
			gnomonv1.ReviewBatchRequest_RETRY:      DecisionRetry,
			gnomonv1.ReviewBatchRequest_RESCHEDULE: DecisionReschedule,
			gnomonv1.ReviewBatchRequest_CANCEL:     DecisionCancel,
		}[c.GetDecision()]
	}
	st := s.GetHead().GetStatus()
	st.LastDecision = &gnomonv1.BatchDecision{Decision: decision, Comment: c.GetComment(), Time: Stamp(now), RequestId: c.GetId()}
	switch decision {
	case DecisionRetry:
		Begin(s, now)
	case DecisionReschedule:
		st.State, st.Message = gnomonv1.BatchStatus_PENDING, ""
		s.Head.ScheduledAt = Stamp(c.GetScheduledAt().AsTime())
		touch(s, now)
	case DecisionCancel:
		st.State, st.Message = gnomonv1.BatchStatus_CANCELLED, ""
		st.FinishTime = Stamp(now)
		s.NoticeOwed = true
		touch(s, now)
	}
	return nil
}

// Cancellation is the command that Temporal's own cancellation of the run stands for.
func Cancellation(s *workflowv1.BatchState) (string, *workflowv1.BatchCommand) {
	if s.GetHead().GetStatus().GetState() == gnomonv1.BatchStatus_MANUAL_REVIEW {
		return workflowv1.CommandReview, &workflowv1.BatchCommand{Decision: gnomonv1.ReviewBatchRequest_CANCEL}
	}
	return workflowv1.CommandCancel, &workflowv1.BatchCommand{}
}

func remember(s *workflowv1.BatchState, c *workflowv1.BatchCommand) {
	if c.GetId() == "" {
		return
	}
	s.AppliedCommands = append(s.AppliedCommands, strings.TrimSpace(c.GetId()+" "+c.GetDigest()))
	if over := len(s.GetAppliedCommands()) - rememberedCommands; over > 0 {
		s.AppliedCommands = slices.Delete(s.GetAppliedCommands(), 0, over)
	}
}

// applied is the digest of the applied command of this id.
func applied(s *workflowv1.BatchState, id string) (string, bool) {
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

// Dropped records a signal that could not be read or did not fit, for a person to see; it
// changes nothing else.
func Dropped(s *workflowv1.BatchState, name string, why error, now time.Time) {
	s.MalformedSignals++
	setCondition(s.GetHead().GetStatus(), &gnomonv1.Condition{
		Type: ConditionCommandsAccepted, Status: gnomonv1.Condition_FALSE, Reason: "SIGNAL_DROPPED",
		Message: fmt.Sprintf("signal %.64q dropped: %.200s", name, why), LastTransitionTime: Stamp(now),
	})
	// The next revision of a round under way is taken; Adopt stores the condition.
	if s.GetHead().GetStatus().GetState() != gnomonv1.BatchStatus_PROCESSING {
		touch(s, now)
	}
}

// setCondition sets the condition of this type.
func setCondition(st *gnomonv1.BatchStatus, c *gnomonv1.Condition) {
	i := slices.IndexFunc(st.GetConditions(), func(o *gnomonv1.Condition) bool { return o.GetType() == c.GetType() })
	if i < 0 {
		st.Conditions = append(st.Conditions, c)
		return
	}
	st.Conditions[i] = c
}

// NotApplied marks the reply to a command that no worker has applied yet.
func NotApplied(b *gnomonv1.Batch, now time.Time) {
	if b.GetStatus() == nil {
		b.Status = &gnomonv1.BatchStatus{}
	}
	setCondition(b.GetStatus(), &gnomonv1.Condition{
		Type: ConditionApplied, Status: gnomonv1.Condition_FALSE, Reason: "NO_WORKER",
		Message:            "no worker answered; the command is kept and applied before the batch is processed",
		LastTransitionTime: Stamp(now),
	})
}
