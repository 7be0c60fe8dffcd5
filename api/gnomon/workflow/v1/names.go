// Package workflowv1 is what passes between facade, workflow and worker of a
// scheduled action.
package workflowv1

import "time"

// Names that Temporal knows: of the workflow type, its activities, commands and
// queries. They are part of every recorded history and cannot change.
const (
	// ActionWorkflow is the workflow type of a scheduled action.
	ActionWorkflow = "Action"
	// PerformActivity performs one occurrence with all its attempts.
	PerformActivity = "Perform"
	// MirrorActivity stores one row of the mirror, for as long as that takes.
	MirrorActivity = "Mirror"

	// CommandUpdate replaces the spec (signal and update; payload Command).
	CommandUpdate = "update"
	// CommandPause holds all attempts back until CommandResume.
	CommandPause = "pause"
	// CommandResume ends a pause.
	CommandResume = "resume"
	// CommandTrigger performs now.
	CommandTrigger = "trigger"
	// CommandCancel deletes the action, as Temporal's own cancellation does.
	CommandCancel = "cancel"
	// SignalMirror asks for the row to be stored again; the facade leaves it when
	// its own write failed.
	SignalMirror = "mirror"

	// SignalVoid says that the command of this id is not to be applied any more: the
	// facade leaves it when a create found no worker, since Temporal may deliver the
	// update it gave up on much later.
	SignalVoid = "void"

	// QueryStanding answers Standing: may attempts of this Guid begin?
	QueryStanding = "standing"
	// QueryAction answers the ScheduledAction as the workflow has it.
	QueryAction = "action"

	// SearchKind is the search attribute (Keyword) with the kind of action.
	SearchKind = "GnomonKind"
	// SearchTenant is the search attribute (Keyword) with the label "tenant".
	SearchTenant = "GnomonTenant"
	// SearchOutcome is the search attribute (Keyword) of an end other than success.
	SearchOutcome = "GnomonOutcome"

	// DefaultTaskQueue is where workflows and activities of actions run.
	DefaultTaskQueue = "gnomon"
)

// TaskTimeout is how long a worker may take for one workflow task of an action before
// Temporal gives it to another, and so how long an action is held up whose task was
// with a worker when that was killed -9. Temporal's own default is 10 seconds. It must
// leave time for the longest replay: a task that is not done in time is begun again
// from the start, by a worker that may be as slow. A task takes milliseconds, and the
// replay of 10,000 signals, more than a run has before it continues as new, took 0.6 s
// on two busy cores.
const TaskTimeout = 5 * time.Second

// Failure types of Perform, as ApplicationError.Type. All but the first two are
// never retried by the server.
const (
	// FailureFailed is an attempt that failed.
	FailureFailed = "Failed"
	// FailureInterrupted is an attempt that broke as a process.
	FailureInterrupted = "Interrupted"
	// FailureFinal is a failure that ends the occurrence.
	FailureFinal = "FailedFinally"
	// FailureHeld hands the occurrence back to the workflow: paused, the deadline
	// comes first, or its standing could not be asked. Nothing was attempted since
	// the counters in its details.
	FailureHeld = "Held"
	// FailureSuperseded is an attempt of a spec that no longer stands.
	FailureSuperseded = "Superseded"
)

// MetricAttemptsLost counts, through Temporal's metrics handler, which knows what is
// replayed, attempts whose process was lost; MetricTagKind is its tag, the kind of action.
const (
	MetricAttemptsLost = "gnomon_attempts_lost"
	MetricTagKind      = "kind"
)

// WorkflowID is the Temporal workflow id of the action with this id (M-06).
func WorkflowID(id string) string { return "action/" + id }

// Why an update was refused, as ApplicationError.Type.
const (
	RefusedEtag      = "EtagMismatch"
	RefusedNotFound  = "NotFound"
	RefusedExists    = "AlreadyExists"
	RefusedNotPaused = "NotPaused"
	RefusedPaused    = "Paused"
	RefusedMalformed = "Malformed"
	RefusedReused    = "CommandReused"
)

// Development is the build of what no release was made of.
const Development = "dev"

// BuildID is what Temporal keeps of a build, four times for each action that waits: the
// release's name, by which the runs it took part in can be found and reset. Builds under
// development have one name for all, so that the SDK's checksum tells them apart: they have
// none here.
func BuildID(build string) string {
	if build == Development {
		return ""
	}
	return build
}
