package ydb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/query"

	"gnomon/store"
	"gnomon/store/internal/group"
)

// ErrClosed says that Close was called before.
var ErrClosed = group.ErrStopped

// Store is a store.Store on YDB. Open makes one.
type Store struct {
	config Config
	prefix string
	driver *ydb.Driver
	writer *group.Writer[write, []bool]
	// calls is held for reading by transactions that do not go through the writer.
	calls sync.RWMutex

	statements, writes atomic.Uint64

	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

// Open connects and refuses a schema that is not this program's: behind or ahead,
// with the command to run. The context bounds the opening only.
func Open(ctx context.Context, c Config) (*Store, error) {
	s, _, err := dial(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("ydb: %w", err)
	}
	if err := s.checkVersion(ctx); err != nil {
		return nil, fmt.Errorf("ydb: %w", errors.Join(err, s.driver.Close(context.WithoutCancel(ctx))))
	}
	s.writer = group.New(group.Config[write, []bool]{
		Commit: s.commit, Weigh: weigh, Limit: groupBytes, Alone: blames,
		Writers: s.config.Writers, Slow: slowWriters, Patience: writersPatience,
	})
	return s, nil
}

// dial connects. What it gives has no writer yet.
func dial(ctx context.Context, c Config) (*Store, target, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, target{}, err
	}
	t, err := parseTarget(c.ConnectionString)
	if err != nil {
		return nil, target{}, err
	}
	driver, err := connect(ctx, c, t)
	if err != nil {
		return nil, target{}, err
	}
	return &Store{config: c, prefix: t.prefix, driver: driver}, t, nil
}

// Close refuses new calls, waits for the writes under way, and closes the
// connections. What waits for its group but has not begun fails with ErrClosed.
// Closing again gives the same result.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.writer.Stop()
		s.calls.Lock()
		defer s.calls.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), s.config.Timeout)
		defer cancel()
		s.closed = s.driver.Close(ctx)
	})
	return s.closed
}

// Stats are counts since Open. Of several writes in one statement, Statements counts
// one and Writes each.
type Stats struct {
	// Statements that wrote and were answered.
	Statements uint64
	// Writes are calls of PutActions and InsertAction that were answered.
	Writes uint64
}

// Stats says how well writes share statements: Writes / Statements.
func (s *Store) Stats() Stats {
	return Stats{Statements: s.statements.Load(), Writes: s.writes.Load()}
}

// check refuses a call whose context has ended or that comes after Close.
func (s *Store) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.writer.Stopping():
		return ErrClosed
	default:
		return nil
	}
}

// run has the server run a statement, in a transaction of its own, and gives its
// rows to scan. All that the SDK may repeat is repeated, within Config.Timeout:
// every statement here may be.
func (s *Store) run(ctx context.Context, st *statement, tx *query.TransactionControl, scan func(query.Row) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	found, err := s.driver.Query().QueryResultSet(ctx, st.yql(s.prefix),
		query.WithParameters(st.values()), query.WithTxControl(tx), query.WithIdempotent())
	if err != nil {
		return err
	}
	for row, err := range found.Rows(ctx) {
		if err != nil {
			return err
		}
		if err := scan(row); err != nil {
			return err
		}
	}
	return nil
}

// reading sees everything that was committed before it began.
func reading() *query.TransactionControl { return query.SnapshotReadOnlyTxControl() }

// writing commits with the statement, in one round trip.
func writing() *query.TransactionControl {
	return query.SerializableReadWriteTxControl(query.CommitTx())
}
