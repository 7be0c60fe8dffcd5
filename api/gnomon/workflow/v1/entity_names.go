package workflowv1

// Names that Temporal knows of entities and stages (seed 004). They are part of every
// recorded history and cannot change.
const (
	// EntityWorkflow is the workflow type of an entity: who wants to visit it, and when.
	EntityWorkflow = "Entity"
	// RewalkWorkflow is the workflow type of a walk of one stage through a type.
	RewalkWorkflow = "Rewalk"

	// AskStagesActivity asks stages whether they want to visit (AskInput, AskResult).
	AskStagesActivity = "AskStages"
	// ProcessActivity is one visit of a stage (VisitInput, VisitResult), on the stage's own
	// task queue.
	ProcessActivity = "Process"
	// PublishSavedActivity publishes an entity's records in their order, until none is left.
	PublishSavedActivity = "PublishSaved"
	// MirrorQueueActivity stores an entity's queue rows.
	MirrorQueueActivity = "MirrorQueue"
	// RewalkPageActivity walks through one page of entities (RewalkPageInput,
	// RewalkPageResult).
	RewalkPageActivity = "RewalkPage"
	// CountEntitiesActivity says how many entities of a type there are.
	CountEntitiesActivity = "CountEntities"
	// StoreRewalkActivity stores how far a walk is (StoreRewalkInput).
	StoreRewalkActivity = "StoreRewalk"

	// SignalChanged says that an entity has a version (payload EntityChanged).
	SignalChanged = "changed"
	// SignalVisit asks for a visit of a stage (payload VisitRequested).
	SignalVisit = "visit"
	// QueryCheck answers the CheckEntityResponse as the workflow has it.
	QueryCheck = "check"
	// SignalCancelRewalk ends a walk.
	SignalCancelRewalk = "cancel"
	// QueryRewalk answers the Rewalk as the workflow has it.
	QueryRewalk = "rewalk"
)

// EntityWorkflowID is the Temporal workflow id of an entity.
func EntityWorkflowID(entityType, id string) string { return "entity/" + entityType + "/" + id }

// RewalkWorkflowID is the Temporal workflow id of a stage's walk.
func RewalkWorkflowID(stage string) string { return "rewalk/" + stage }

// StageTaskQueue is the task queue of a stage's visits, beside that of the workflows.
func StageTaskQueue(taskQueue, stage string) string { return taskQueue + "/stage/" + stage }
