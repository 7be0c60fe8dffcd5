package store

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Nodes is the mirror of node actions and playbooks (seed 002): what workflows know,
// for queries, finished ones included. Temporal is the truth of what is unfinished. All
// methods are safe for concurrent use and bounded by their context.
type Nodes interface {
	// PutNodeActions writes each row whose Revision is newer than what stands for its
	// cluster and id, and leaves the others. On an error nothing is known and all may be
	// put again. An action may occur more than once in rows.
	PutNodeActions(ctx context.Context, rows []NodeActionRow) error

	// GetNodeAction returns the row of an action, or ErrNotFound.
	GetNodeAction(ctx context.Context, cluster, id string) (NodeActionRow, error)

	// ListNodeActions returns up to q.Limit rows of a cluster by create_time and id, those
	// after q.After.
	ListNodeActions(ctx context.Context, q NodeActionQuery) ([]NodeActionRow, error)

	// PutPlaybook writes the row if its Revision is newer than what stands for its id.
	PutPlaybook(ctx context.Context, row PlaybookRow) error

	// GetPlaybook returns the row of a playbook, or ErrNotFound.
	GetPlaybook(ctx context.Context, id string) (PlaybookRow, error)

	// ListPlaybooks returns up to q.Limit rows, the newest first, those after q.After.
	ListPlaybooks(ctx context.Context, q PlaybookQuery) ([]PlaybookRow, error)

	// PurgeNodeActions and PurgePlaybooks remove up to limit rows of what finished before a
	// time, the oldest first, and say how many. What has not finished stays, however old.
	PurgeNodeActions(ctx context.Context, before time.Time, limit int) (int, error)
	PurgePlaybooks(ctx context.Context, before time.Time, limit int) (int, error)
}

// NodeActionRow is a node action as the mirror shows it.
type NodeActionRow struct {
	// Action is what clients see. The key is its cluster and id.
	Action *gnomonv1.NodeAction
	// Revision orders this write among all of its key.
	Revision Revision
	// RequestID is the request_id it was scheduled by, and Digest tells what that asked
	// for. A row that names no RequestID keeps both of what stands.
	RequestID, Digest string
}

// PlaybookRow is a playbook as the mirror shows it.
type PlaybookRow struct {
	// Playbook is what clients see. The key is its id.
	Playbook *gnomonv1.Playbook
	// Revision orders this write among all of its key.
	Revision Revision
	// RequestID and Digest are as in NodeActionRow.
	RequestID, Digest string
}

// NodeActionQuery selects rows. Zero fields but Cluster do not restrict.
type NodeActionQuery struct {
	// Cluster lists only actions of this cluster. Required.
	Cluster string
	// Node and Playbook list only those of one node and of one playbook.
	Node, Playbook string
	// States lists only actions in one of these.
	States []gnomonv1.NodeAction_State
	// After is the position of the last row of the page before, its create_time as
	// ScheduledAt, or nil.
	After *ActionPosition
	// Limit is the greatest number of rows, at least 1.
	Limit int
}

// PlaybookQuery selects rows. Zero fields do not restrict.
type PlaybookQuery struct {
	// Cluster lists only playbooks of this cluster.
	Cluster string
	// States lists only playbooks in one of these.
	States []gnomonv1.PlaybookStatus_State
	// After is as in NodeActionQuery.
	After *ActionPosition
	// Limit is the greatest number of rows, at least 1.
	Limit int
}
