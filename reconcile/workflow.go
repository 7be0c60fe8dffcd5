package reconcile

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// State is whether Temporal has a workflow for an id.
type State int

// States of a workflow.
const (
	Absent State = iota // none is known, open or closed
	Open
	Closed
)

// Workflow is what Temporal knows of the newest run of an action.
type Workflow struct {
	State State
	// RunID is the newest run, Chain the first of those it continues.
	RunID, Chain string
	// Foreign: it is on another task queue, or no action.
	Foreign bool

	// Problem says why a closed one cannot be read. Empty if it could.
	Problem string

	// Answer is that of an open one to the query action; nil if none came.
	Answer *workflowv1.CommandResult
	// Performing: attempts of an open one are under way, and write rows of their own.
	Performing bool
	// Attempts is the status that they left with the server, nil if none.
	Attempts *gnomonv1.Status

	// Ended is how a closed one ended.
	Ended enumspb.WorkflowExecutionStatus
	// Result is the final Status of a completed one.
	Result *gnomonv1.Status
	// Incarnation is when the last incarnation of a closed one began, by Temporal's
	// clock; the first part of its revisions.
	Incarnation time.Time
	// Final is the last state of a closed one: what a worker answered, else what its
	// last run began with.
	Final *workflowv1.CommandResult
}
