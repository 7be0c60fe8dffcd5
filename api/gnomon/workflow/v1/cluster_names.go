package workflowv1

// Names that Temporal knows of clusters, agents and playbooks (seed 002). They are part
// of every recorded history and cannot change.
const (
	// ClusterWorkflow is the workflow type of a cluster's orchestration.
	ClusterWorkflow = "Cluster"
	// PlaybookWorkflow is the workflow type of a playbook.
	PlaybookWorkflow = "Playbook"

	// AgentSyncActivity asks an agent what it has.
	AgentSyncActivity = "AgentSync"
	// AgentPushActivity gives an agent actions.
	AgentPushActivity = "AgentPush"
	// AgentCancelActivity has an agent stop actions.
	AgentCancelActivity = "AgentCancel"

	// MirrorNodesActivity stores rows of node actions.
	MirrorNodesActivity = "MirrorNodes"
	// ClusterCommandActivity sends commands to a cluster, which is started if need be, on
	// behalf of a playbook.
	ClusterCommandActivity = "ClusterCommand"
	// ClusterNodesActivity asks a cluster for its nodes, on behalf of a playbook.
	ClusterNodesActivity = "ClusterNodes"

	// MirrorPlaybookActivity stores a playbook's row.
	MirrorPlaybookActivity = "MirrorPlaybook"

	// CommandPlaybook is the signal and update of a playbook's commands (PlaybookCommand).
	CommandPlaybook = "command"
	// QueryPlaybook answers the Playbook as the workflow has it.
	QueryPlaybook = "playbook"

	// CommandCluster is the signal and update of a cluster's commands (ClusterCommand).
	CommandCluster = "command"
	// QueryCluster answers the Cluster as the workflow has it.
	QueryCluster = "cluster"
	// QueryNodeAction answers one unfinished NodeAction by its id.
	QueryNodeAction = "action"

	// SignalNews says that an agent has something to tell (payload News).
	SignalNews = "news"
	// SignalProgress tells a playbook how its actions stand (payload PlaybookProgress).
	SignalProgress = "progress"
)

// ClusterWorkflowID is the Temporal workflow id of a cluster.
func ClusterWorkflowID(cluster string) string { return "cluster/" + cluster }

// PlaybookWorkflowID is the Temporal workflow id of a playbook.
func PlaybookWorkflowID(id string) string { return "playbook/" + id }

// NodeTaskQueue is the task queue that the agent of a node polls, and nobody else.
func NodeTaskQueue(cluster, node string) string { return "node/" + cluster + "/" + node }

// Why a command of a cluster or playbook was refused, as ApplicationError.Type; some are
// an action's.
const (
	RefusedNoNode     = "NoSuchNode"
	RefusedNotPending = "NotPending"
	RefusedFinished   = "Finished"
	RefusedUnfinished = "Unfinished"
	RefusedFull       = "Full"
)
