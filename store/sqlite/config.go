package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// MemoryPath as Config.Path gives a database in memory that ends with the store.
const MemoryPath = ":memory:"

// DefaultTombstoneTTL is how long an ended action stands unless Config says
// otherwise (design.md, The mirror row).
const DefaultTombstoneTTL = 24 * time.Hour

// Defaults of Config.
const (
	defaultReaders     = 4
	defaultBusyTimeout = 5 * time.Second
)

// Config says which database to open and how. Only Path is required.
type Config struct {
	// Path is the file, on a local disk (SQLite's locks do not work on network
	// file systems), or MemoryPath. Beside the file lie its -wal and -shm.
	Path string
	// Now is the clock that tombstones expire by. Default time.Now.
	Now func() time.Time
	// TombstoneTTL is how long the row of an ended action stands. Default
	// DefaultTombstoneTTL; not negative.
	TombstoneTTL time.Duration
	// Migrate creates the file where there is none and brings an older schema up
	// to date. Without it such a database is refused. A newer schema is always
	// refused. A database in memory is always created.
	Migrate bool
	// RelaxedSync commits without waiting for the disk (synchronous=NORMAL instead
	// of FULL). A crash of the process still loses nothing. A power failure may
	// lose the last writes, which were acknowledged; it does not corrupt the file.
	// Temporal has the truth and the reconciler repairs such rows, but until it
	// has passed, lists show them as they stood before.
	RelaxedSync bool
	// Readers is how many reads run at once. Default 4; not negative. In memory all
	// reads and writes take turns.
	Readers int
	// BusyTimeout is how long a transaction waits for another process that writes
	// to the same file. Default 5 s; not negative.
	BusyTimeout time.Duration
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.TombstoneTTL = cmp.Or(c.TombstoneTTL, DefaultTombstoneTTL)
	c.Readers = cmp.Or(c.Readers, defaultReaders)
	c.BusyTimeout = cmp.Or(c.BusyTimeout, defaultBusyTimeout)
	return c
}

// validate names every field that breaks its rule.
func (c Config) validate() error {
	var errs []error
	if c.Path == "" {
		errs = append(errs, errors.New("Config.Path must not be empty"))
	}
	if c.TombstoneTTL < 0 {
		errs = append(errs, fmt.Errorf("Config.TombstoneTTL must not be negative, but is %s", c.TombstoneTTL))
	}
	if c.Readers < 0 {
		errs = append(errs, fmt.Errorf("Config.Readers must not be negative, but is %d", c.Readers))
	}
	if c.BusyTimeout < 0 {
		errs = append(errs, fmt.Errorf("Config.BusyTimeout must not be negative, but is %s", c.BusyTimeout))
	}
	return errors.Join(errs...)
}

// inMemory says whether the database ends with the store.
func (c Config) inMemory() bool { return c.Path == MemoryPath }
