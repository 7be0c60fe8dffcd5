package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store/storetest"
)

// errPlanted is what a fault fails with.
var errPlanted = errors.New("planted")

// faultMode is how a statement, the beginning of a transaction or its end goes wrong.
type faultMode int

const (
	// before: it is not executed.
	before faultMode = iota
	// after: it is executed, and its answer lost.
	after
	// cancelled: the caller's context ends just before it.
	cancelled
)

// faultyConnector opens connections of the driver one of whose steps goes wrong.
type faultyConnector struct {
	inner driver.Driver
	name  string

	mu     sync.Mutex
	mode   faultMode
	left   int // steps until the fault; 0: none is planted
	fired  bool
	cancel context.CancelFunc
}

func (c *faultyConnector) Driver() driver.Driver { return c.inner }

func (c *faultyConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.inner.Open(c.name)
	if err != nil {
		return nil, err
	}
	return &faultyConn{Conn: conn, connector: c}, nil
}

// plant has the n-th step from now on go wrong.
func (c *faultyConnector) plant(mode faultMode, n int, cancel context.CancelFunc) (heal func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode, c.left, c.fired, c.cancel = mode, n, false, cancel
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.left = 0
		return c.fired
	}
}

// step does what a step is, or not.
func (c *faultyConnector) step(do func() error) error {
	c.mu.Lock()
	hit := c.left == 1
	c.left = max(0, c.left-1)
	c.fired = c.fired || hit
	mode, cancel := c.mode, c.cancel
	c.mu.Unlock()
	if !hit {
		return do()
	}
	switch mode {
	case before:
		return errPlanted
	case cancelled:
		cancel()
		return do()
	default:
		return errors.Join(errPlanted, do())
	}
}

// faultyConn is a connection whose steps are counted.
type faultyConn struct {
	driver.Conn

	connector *faultyConnector
}

func (c *faultyConn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = c.connector.step(func() error {
		tx, err = c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
		return err
	})
	if err != nil && tx != nil {
		err = errors.Join(err, tx.Rollback()) // begun, but nobody knows
	}
	return &faultyTx{Tx: tx, connector: c.connector}, err
}

func (c *faultyConn) ExecContext(ctx context.Context, statement string, arguments []driver.NamedValue) (result driver.Result, err error) {
	err = c.connector.step(func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		result, err = c.Conn.(driver.ExecerContext).ExecContext(ctx, statement, arguments)
		return err
	})
	return result, err
}

func (c *faultyConn) QueryContext(ctx context.Context, statement string, arguments []driver.NamedValue) (rows driver.Rows, err error) {
	err = c.connector.step(func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err = c.Conn.(driver.QueryerContext).QueryContext(ctx, statement, arguments)
		return err
	})
	if err != nil && rows != nil {
		err = errors.Join(err, rows.Close())
	}
	return rows, err
}

type faultyTx struct {
	driver.Tx

	connector *faultyConnector
}

func (t *faultyTx) Commit() error {
	err := t.connector.step(t.Tx.Commit)
	if errors.Is(err, errPlanted) {
		_ = t.Rollback() // if it was not committed
	}
	return err
}

// openWithFaults opens a store in a file whose writes can be made to fail.
func openWithFaults(t *testing.T) (*Store, *faultyConnector) {
	t.Helper()
	c := Config{Path: filepath.Join(t.TempDir(), "gnomon.db"), Migrate: true}
	s, err := Open(t.Context(), c)
	require.NoError(t, err)
	plain := s.db.write
	connector := &faultyConnector{inner: plain.Driver(), name: location(s.config) + "?" + parameters(s.config, false).Encode()}
	s.db.write = sql.OpenDB(connector)
	s.db.write.SetMaxOpenConns(1)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, plain.Close())
	})
	return s, connector
}

// Issue 7: the commit, and every other write of entities, with a fault at each statement,
// at the beginning of the transaction and at its end. All or nothing is there then, and
// what is repeated is done once (G-08, G-11).
func TestEachFaultAtEachStatementOfEntities(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]faultMode{"before": before, "answer lost": after, "cancelled": cancelled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, connector := openWithFaults(t)
			planted, lost := storetest.RunEntityFaults(t, s, func(n int) (context.Context, func() bool) {
				ctx, cancel := context.WithCancel(t.Context())
				heal := connector.plant(mode, n, cancel)
				return ctx, func() bool {
					cancel()
					return heal()
				}
			})
			require.Greater(t, planted, 100)
			if mode == after {
				require.Greater(t, lost, 15, "commits whose answers were lost")
			}
			t.Logf("%d faults, %d lost answers", planted, lost)
		})
	}
}
