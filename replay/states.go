package replay

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/entity"
	"gnomon/playbook"
)

// How a recording ends, beside the name of the Status.State that the run ended in.
const (
	// Open: the action was alive.
	Open = "open"
	// Continued: as a new run, which is a recording of its own.
	Continued = "continued"
)

// State is one that an action can be in, or have come through, with a recording.
type State struct {
	// Name of the recording.
	Name string
	// End: Open, Continued or the final Status.State.
	End string
	// Holds are events without which the recording is not of this state.
	Holds []enumspb.EventType
}

const (
	timedOut    = enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT
	scheduled   = enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
	completed   = enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
	failed      = enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED
	cancelled   = enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED
	sleeps      = enumspb.EVENT_TYPE_TIMER_STARTED
	wakes       = enumspb.EVENT_TYPE_TIMER_FIRED
	disarmed    = enumspb.EVENT_TYPE_TIMER_CANCELED
	updated     = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED
	signalled   = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
	cancelAsked = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED
	outcome     = enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES
)

// States are those that every version of the rules has a recording of.
func States() []State {
	return slices.Concat(onceStates, commandStates, lossStates, periodicStates, continuedStates)
}

var onceStates = []State{
	{"once-waiting", Open, events(sleeps)},
	{"once-running", Open, events(scheduled)},
	{"once-retrying", Open, events(scheduled)},
	{"once-succeeded", "SUCCEEDED", events(sleeps, wakes, completed)},
	{"once-succeeded-late", "SUCCEEDED", events(completed)},
	{"once-succeeded-after-retries", "SUCCEEDED", events(completed)},
	{"once-failed-by-budget", "FAILED", events(failed, outcome)},
	{"once-failed-permanently", "FAILED", events(failed, outcome)},
	{"once-failed-by-panics", "FAILED", events(failed, outcome)},
	{"once-expired-waiting", "EXPIRED", events(wakes, outcome)},
	{"once-expired-in-retry-wait", "EXPIRED", events(failed, wakes, outcome)},
	{"once-expired-paused", "EXPIRED", events(updated, wakes, outcome)},
}

var commandStates = []State{
	{"once-paused-sleeping", Open, events(updated, sleeps, disarmed)},
	{"once-paused-running", Open, events(updated, scheduled)},
	{"once-paused-retrying", Open, events(updated, failed)},
	{"once-paused-then-resumed", "SUCCEEDED", events(updated, completed)},
	{"once-paused-by-signal", Open, events(signalled)},
	{"once-resumed-in-time", Open, events(updated, sleeps)},
	{"once-triggered", "SUCCEEDED", events(updated, disarmed, completed)},
	{"once-updated-sleeping", "SUCCEEDED", events(updated, disarmed, completed)},
	{"once-updated-running", "SUCCEEDED", events(updated, cancelled, completed)},
	{"once-updated-retrying", "SUCCEEDED", events(updated, cancelled, completed)},
	{"once-updated-by-signal", "SUCCEEDED", events(signalled, completed)},
	{"once-upserted", Open, events(updated, sleeps)},
	{"once-deleted-sleeping", "DELETED", events(updated, disarmed, outcome)},
	{"once-deleted-running", "DELETED", events(updated, cancelled, outcome)},
	{"once-deleted-retrying", "DELETED", events(updated, cancelled, outcome)},
	{"once-deleted-paused", "DELETED", events(updated, outcome)},
	{"once-deleted-by-temporal", "DELETED", events(cancelAsked, disarmed, outcome)},
	{"once-deleted-by-temporal-running", "DELETED", events(cancelAsked, cancelled, outcome)},
	{"once-deleted-by-signal", "DELETED", events(signalled, outcome)},
	{"once-deleted-without-workers", "DELETED", events(signalled, cancelAsked, outcome)},
	{"once-malformed-signals", "SUCCEEDED", events(signalled, completed)},
}

var lossStates = []State{
	{"once-interrupted", "SUCCEEDED", events(timedOut, completed)},
	{"once-interrupted-waiting", Open, events(timedOut, sleeps)},
	{"once-interrupted-last", "FAILED", events(timedOut, outcome)},
	{"once-interrupted-updated", Open, events(timedOut, updated, disarmed)},
	{"once-interrupted-triggered", Open, events(timedOut, updated, disarmed)},
	{"once-interrupted-paused", Open, events(timedOut, updated, disarmed)},
	{"periodic-interrupted", Open, events(timedOut, completed)},
	{"once-store-down-waiting", Open, events(updated, scheduled)},
	{"once-store-down-at-the-end", "SUCCEEDED", events(completed)},
	{"periodic-store-down", Open, events(completed)},
}

var periodicStates = []State{
	{"periodic-waiting", Open, events(sleeps, completed)},
	{"periodic-running", Open, events(scheduled)},
	{"periodic-retrying", Open, events(scheduled)},
	{"periodic-failing", Open, events(failed, sleeps)},
	{"periodic-retries-in-ticks", Open, events(completed, sleeps)},
	{"periodic-paused-sleeping", Open, events(updated, disarmed)},
	{"periodic-paused-retrying", Open, events(updated, failed)},
	{"periodic-paused-retrying-then-resumed", Open, events(updated, failed)},
	{"periodic-paused-then-resumed", Open, events(updated, completed, sleeps)},
	{"periodic-triggered", Open, events(updated, completed, disarmed)},
	{"periodic-triggered-running", Open, events(updated, completed)},
	{"periodic-updated", Open, events(updated, cancelled)},
	{"periodic-deleted", "DELETED", events(updated, completed, outcome)},
	{"periodic-expired", "EXPIRED", events(completed, outcome)},
	{"calendar-waiting", Open, events(sleeps)},
	{"calendar-ticking", Open, events(completed, sleeps)},
}

var continuedStates = []State{
	{"periodic-continued", Continued, events(completed)},
	{"periodic-continued-next", Open, events(completed)},
	{"once-paused-continued", Continued, events(signalled)},
	{"once-paused-continued-next", "SUCCEEDED", events(updated, completed)},
	{"once-occurrence-continued", Continued, events(failed, signalled)},
	{"once-occurrence-continued-next", "SUCCEEDED", events(updated, completed)},
	{"once-revived", Continued, events(updated, outcome)},
	{"once-revived-next", "SUCCEEDED", events(completed)},
	{"once-revived-without-workers", Continued, events(signalled, cancelAsked)},
	{"once-revived-without-workers-next", "SUCCEEDED", events(completed)},
}

// Reconciler begins the names of the recordings of the reconciler's own workflow.
const Reconciler = "reconciler"

// canceled is how the reconciler ends where no worker wants one any more.
var canceled = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED.String()

// ReconcilerStates are those of the reconciler's own workflow that have a recording.
// It has no versions: it keeps nothing that could not be had again.
func ReconcilerStates() []State {
	return []State{
		{"reconciler-in-round", Open, events(scheduled)},
		{"reconciler-sleeping", Open, events(completed, sleeps)},
		{"reconciler-later-round", Open, events(completed, sleeps, wakes)},
		{"reconciler-interval-changed", Open, events(signalled, completed, sleeps)},
		{"reconciler-ended-sleeping", canceled, events(completed, sleeps, cancelAsked)},
		{"reconciler-ended-in-round", canceled, events(scheduled, cancelAsked, cancelled)},
		{"reconciler-continued", Continued, events(completed, sleeps, wakes)},
		{"reconciler-continued-next", Open, events(completed, sleeps)},
	}
}

func events(all ...enumspb.EventType) []enumspb.EventType { return all }

// Path is that of a state's recording in the present version, below this package's
// directory.
func (s State) Path() string {
	if strings.HasPrefix(s.Name, Reconciler) {
		return filepath.Join("testdata", Reconciler, s.Name+Extension)
	}
	if strings.HasPrefix(s.Name, Batch) {
		return filepath.Join("testdata", Batch, fmt.Sprintf("v%d", batch.Version), s.Name+Extension)
	}
	if strings.HasPrefix(s.Name, Entity) {
		return filepath.Join("testdata", Entity, fmt.Sprintf("v%d", entity.Version), s.Name+Extension)
	}
	if strings.HasPrefix(s.Name, Rewalk) {
		return filepath.Join("testdata", Rewalk, fmt.Sprintf("v%d", entity.Version), s.Name+Extension)
	}
	for _, kind := range []string{Cluster, Playbook} {
		if strings.HasPrefix(s.Name, kind) {
			return filepath.Join("testdata", kind, fmt.Sprintf("v%d", playbook.Version), s.Name+Extension)
		}
	}
	return filepath.Join("testdata", fmt.Sprintf("v%d", life.Version), s.Name+Extension)
}

// Check says whether a history is of this state.
func (s State) Check(h *historypb.History) error {
	all := h.GetEvents()
	for _, kind := range s.Holds {
		if !slices.ContainsFunc(all, func(e *historypb.HistoryEvent) bool { return e.GetEventType() == kind }) {
			return fmt.Errorf("%s holds no event %s", s.Name, kind)
		}
	}
	end, err := ending(h)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	if end != s.End {
		return fmt.Errorf("%s ends as %s, not as %s", s.Name, end, s.End)
	}
	return nil
}

// result is the name of the state that a run ended in.
func result(h *historypb.History, p *commonpb.Payloads) (string, error) {
	switch h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName() {
	case workflowv1.EntityWorkflow:
		return Quiet, nil
	case workflowv1.RewalkWorkflow:
		st := &gnomonv1.Rewalk{}
		err := read(p, st)
		return st.GetState().String(), err
	case workflowv1.BatchWorkflow:
		st := &gnomonv1.BatchStatus{}
		err := read(p, st)
		return st.GetState().String(), err
	case workflowv1.PlaybookWorkflow:
		st := &gnomonv1.PlaybookStatus{}
		err := read(p, st)
		return st.GetState().String(), err
	default:
		st := &gnomonv1.Status{}
		err := read(p, st)
		return st.GetState().String(), err
	}
}

// ending is how a history ends.
func ending(h *historypb.History) (string, error) {
	if len(h.GetEvents()) == 0 {
		return "", errors.New("it has no events")
	}
	last := h.GetEvents()[len(h.GetEvents())-1]
	switch last.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
		return result(h, last.GetWorkflowExecutionCompletedEventAttributes().GetResult())
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		return Continued, nil
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		return last.GetEventType().String(), nil // no action ends so
	default:
		return Open, nil
	}
}
