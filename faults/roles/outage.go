package roles

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"google.golang.org/grpc/codes"

	"gnomon/store/ydb/ydbdouble"
)

// Outage is what is wrong with YDB's double. The zero Outage: nothing.
type Outage struct {
	// Down closes its port and all connections.
	Down bool `json:"down,omitempty"`
	// Delay passes before each statement.
	Delay time.Duration `json:"delay,omitempty"`
	// Errors is the part of statements that end in one of the errors that YDB may
	// answer with, 0 for none to 1 for all.
	Errors float64 `json:"errors,omitempty"`
	// Lost is the part of statements that are done and committed, and whose answer does
	// not come.
	Lost float64 `json:"lost,omitempty"`
}

// mishaps are the errors of [Outage.Errors]. The SDK hides most of them by asking again;
// GENERIC_ERROR it believes.
var mishaps = []ydbdouble.Fault{
	{Status: Ydb.StatusIds_UNAVAILABLE},
	{Status: Ydb.StatusIds_OVERLOADED},
	{Status: Ydb.StatusIds_ABORTED},
	{Status: Ydb.StatusIds_GENERIC_ERROR},
	{Transport: codes.Unavailable},
	{SessionLost: true},
	{Status: Ydb.StatusIds_UNDETERMINED, Committed: true},
	{Transport: codes.Unavailable, Committed: true},
}

// losses are those of [Outage.Lost]: an answer that says it is not known, a connection
// that broke, and one that the SDK does not ask again after.
var losses = []ydbdouble.Fault{
	{Status: Ydb.StatusIds_UNDETERMINED, Committed: true},
	{Transport: codes.Unavailable, Committed: true},
	{Status: Ydb.StatusIds_GENERIC_ERROR, Committed: true},
}

// unwell is a double of YDB that takes orders.
type unwell struct {
	server *ydbdouble.Server
	down   bool
	// befallen counts the statements that something was wrong with.
	befallen atomic.Int64
}

// carryOut carries out an order, and notes how many statements were befallen before.
func (u *unwell) carryOut(ctx context.Context, o Order) (string, error) {
	if o.YDB == nil {
		return "", nil
	}
	outage := *o.YDB
	u.server.Inject(func(ydbdouble.Execution) ydbdouble.Fault { return u.befalls(outage) })
	before := u.befallen.Swap(0)
	if outage.Down && !u.down {
		u.server.Suspend()
	}
	if !outage.Down && u.down {
		if err := u.server.Resume(ctx); err != nil {
			return "", err
		}
	}
	u.down = outage.Down
	return fmt.Sprintf(befallenNote, before), nil
}

// befalls draws what befalls one statement.
func (u *unwell) befalls(o Outage) ydbdouble.Fault {
	fault := ydbdouble.Fault{}
	befallen := o.Delay > 0
	switch drawn := rand.Float64(); { //nolint:gosec // drawn, not secret
	case drawn < o.Errors:
		fault, befallen = mishaps[rand.IntN(len(mishaps))], true //nolint:gosec // drawn, not secret
	case drawn < o.Errors+o.Lost:
		fault, befallen = losses[rand.IntN(len(losses))], true //nolint:gosec // drawn, not secret
	}
	fault.Delay = o.Delay
	if befallen {
		u.befallen.Add(1)
	}
	return fault
}

// befallenNote follows the answer to an order that was [Order.YDB].
const befallenNote = ", %d statements befallen before"

// Befallen is how many statements an answer tells of.
func (o Order) Befallen(answer string) (n int, err error) {
	if _, err = fmt.Sscanf(answer, o.Answer()+befallenNote, &n); err != nil {
		return 0, fmt.Errorf("%q does not say how many statements were befallen: %w", answer, err)
	}
	return n, nil
}
