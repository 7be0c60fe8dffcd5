package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gnomon/store"
	"gnomon/store/internal/group"
)

// ErrClosed says that Close was called before.
var ErrClosed = group.ErrStopped

// Store is a store.Store on SQLite. Open makes one.
type Store struct {
	config Config
	db     *database
	writer *writer
	// calls is held for reading by transactions of their own, beside the writer's.
	calls sync.RWMutex

	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

// Open opens the database, migrates it if Config.Migrate says so, and refuses one
// whose schema is not this program's: behind or ahead. The context bounds the
// opening only.
func Open(ctx context.Context, c Config) (*Store, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	db, err := openDatabase(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	w, err := startWriter(ctx, db.write)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", errors.Join(err, db.close()))
	}
	return &Store{config: c, db: db, writer: w}, nil
}

// Close refuses new calls, waits for the writes under way, and closes the
// database. What waits for its transaction but has not begun fails with ErrClosed.
// Closing again gives the same result.
func (s *Store) Close() error {
	s.closing.Do(func() {
		stopped := s.writer.stop()
		s.calls.Lock()
		defer s.calls.Unlock()
		s.closed = errors.Join(stopped, s.db.close())
	})
	return s.closed
}

// Stats are counts since Open. Of several writes in one transaction, Transactions
// counts one and Writes each.
type Stats struct {
	// Transactions that were committed.
	Transactions uint64
	// Writes are calls of PutActions, InsertAction and PurgeActions that were
	// committed.
	Writes uint64
}

// Stats says how well writes share transactions: Writes / Transactions.
func (s *Store) Stats() Stats {
	return Stats{Transactions: s.writer.transactions.Load(), Writes: s.writer.writes.Load()}
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

// failure is the error of a call: the context's own where that has ended, since
// an interrupted statement says so in words of its own.
func failure(ctx context.Context, call string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		err = ended
	}
	return fmt.Errorf("sqlite: %s: %w", call, classify(err))
}
