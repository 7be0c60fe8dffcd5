package store

import (
	"context"
	"errors"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// ErrNotFound says that no row of this id stands (an expired tombstone does not).
var ErrNotFound = errors.New("no such row")

// Row is one action as the mirror shows it.
type Row struct {
	// Action is what clients see. Key is Action.Meta.Id.
	Action *gnomonv1.ScheduledAction
	// Revision orders this write among all of its id.
	Revision Revision
	// Chain is the id of the first run of the incarnation's workflow, the same
	// however often that continued as new.
	Chain string
	// Tombstone: the action has ended. The row expires after the store's
	// TombstoneTTL and prevents late writes from reviving it meanwhile.
	Tombstone bool
	// DeletedBy is the request_id of the deletion that this tombstone comes from, if
	// it had one. A row that names none keeps what stands, so that a deletion that is
	// repeated after the id was used anew is recognised.
	DeletedBy string
}

// Actions is the mirror of scheduled actions. All methods are safe for concurrent
// use and bounded by their context. Implementations group concurrent writes.
type Actions interface {
	// PutActions writes each row whose Revision is newer than what stands for its
	// id (a tombstone included), and leaves the others. It says for each row
	// whether it applied; on an error nothing is known and all may be put again.
	// An id may occur more than once in rows.
	PutActions(ctx context.Context, rows []Row) ([]bool, error)

	// InsertAction writes the facade's first row of an action. It applies only
	// where nothing stands or a tombstone of another Chain, whose revision the new
	// row then keeps, so that late writes of the old incarnation stay refused.
	// Row.Revision is ignored; without a tombstone the row has the zero Revision.
	InsertAction(ctx context.Context, row Row) (bool, error)

	// GetAction returns the row of an id, a tombstone included, or ErrNotFound.
	GetAction(ctx context.Context, id string) (Row, error)

	// ListActions returns up to q.Limit rows in order, those after q.After.
	ListActions(ctx context.Context, q ActionQuery) ([]Row, error)

	// PurgeActions removes up to limit expired tombstones and says how many.
	PurgeActions(ctx context.Context, limit int) (int, error)

	// Ping says whether the store answers.
	Ping(ctx context.Context) error

	// Close waits for writes under way and releases everything.
	Close() error
}

// ActionQuery selects and orders rows. Zero fields do not restrict.
type ActionQuery struct {
	// States lists only rows in one of these states.
	States []gnomonv1.Status_State
	// Kinds lists only rows whose action is of one of these kinds (the names of
	// action.Kind, such as http_request).
	Kinds []string
	// Labels lists only rows that have all of these labels with these values.
	Labels map[string]string
	// ID lists only this id; IDPrefix only ids that begin with this.
	ID, IDPrefix string
	// DueFrom (inclusive) and DueBefore (exclusive) bound Status.scheduled_at.
	DueFrom, DueBefore time.Time
	// ShowFinished lists tombstones too.
	ShowFinished bool
	// Order is the order of the rows; ties are broken by id in the same direction.
	Order ActionOrder
	// Descending turns the order round.
	Descending bool
	// After is the position of the last row of the page before, or nil.
	After *ActionPosition
	// Limit is the greatest number of rows, at least 1.
	Limit int
}

// ActionOrder is what rows are ordered by.
type ActionOrder int

// Orders of rows.
const (
	ByScheduledAt ActionOrder = iota // rows without one come first
	ByID
)

// ActionPosition is where a page ends. ScheduledAt is used by ByScheduledAt only.
// Microseconds are the precision of ScheduledAt as it is stored and compared.
type ActionPosition struct {
	ScheduledAt time.Time
	ID          string
}
