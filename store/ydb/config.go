package ydb

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"time"
)

// EnvConnectionString names the environment's connection string, as all of YDB's
// tools do.
const EnvConnectionString = "YDB_CONNECTION_STRING"

// DefaultTombstoneTTL is how long an ended action stands unless Config says
// otherwise (design.md, The mirror row).
const DefaultTombstoneTTL = 24 * time.Hour

// Defaults of Config.
const (
	defaultTimeout        = 5 * time.Second
	defaultConnectTimeout = 5 * time.Second
	defaultWriters        = 4
)

const (
	// slowWriters is how many groups of writes may be under way at once while each takes
	// longer than writersPatience: as many as begin within 4 s. So a row of a server that
	// takes 2 s a statement is stored after little more than these (F5).
	slowWriters     = 32
	writersPatience = 125 * time.Millisecond
	// sessions is how many statements may be under way at once, of all kinds: slow writes
	// leave enough for reads.
	sessions = 100
)

// Config says which database to open and how. Only ConnectionString is required.
type Config struct {
	// ConnectionString is grpc[s]://host:port/database[?directory=path]. The
	// directory, relative to the database, is the installation: its tables lie there,
	// and two with different directories do not see each other (M-48). Default is the
	// database's root. Credentials come from the environment, see Credentials.
	ConnectionString string
	// Now is the clock that tombstones expire by. Default time.Now.
	Now func() time.Time
	// TombstoneTTL is how long the row of an ended action stands. Default
	// DefaultTombstoneTTL; not negative.
	TombstoneTTL time.Duration
	// Timeout bounds each call and each group of writes, all repetitions included.
	// Default 5 s; not negative.
	Timeout time.Duration
	// ConnectTimeout bounds connecting; finding out why that failed takes up to 2 s
	// more. Default 5 s; not negative.
	ConnectTimeout time.Duration
	// Writers is how many groups of writes may be under way at once, as long as they take
	// less than 125 ms; beyond that up to 32 are. Default 4; not negative.
	Writers int
	// Getenv reads the environment. Default os.Getenv.
	Getenv func(string) string
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	c.TombstoneTTL = cmp.Or(c.TombstoneTTL, DefaultTombstoneTTL)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
	c.Writers = cmp.Or(c.Writers, defaultWriters)
	return c
}

// validate names every field that breaks its rule.
func (c Config) validate() error {
	var errs []error
	for name, d := range map[string]time.Duration{
		"TombstoneTTL": c.TombstoneTTL, "Timeout": c.Timeout, "ConnectTimeout": c.ConnectTimeout,
	} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("Config.%s must not be negative, but is %s", name, d))
		}
	}
	if c.Writers < 0 {
		errs = append(errs, fmt.Errorf("Config.Writers must not be negative, but is %d", c.Writers))
	}
	return errors.Join(errs...)
}

// directoryPattern is what a directory may look like: it becomes part of every
// statement.
var directoryPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$`)

// target is a connection string taken apart.
type target struct {
	secure   bool
	endpoint string // host:port
	database string // begins with a slash
	prefix   string // where the installation's tables lie, begins with the database
	dsn      string // for the SDK: without what only this package knows
}

// parseTarget takes a connection string apart. Errors do not repeat it, since it may
// hold a password.
func parseTarget(connection string) (target, error) {
	fail := func(format string, arguments ...any) (target, error) {
		return target{}, fmt.Errorf("the connection string must be grpc[s]://host:port/database[?directory=path]: "+format, arguments...)
	}
	if connection == "" {
		return fail("it is empty")
	}
	u, err := url.Parse(connection)
	if parsing, ok := errors.AsType[*url.Error](err); ok {
		return fail("%w", parsing.Err)
	}
	if u.Scheme != "grpc" && u.Scheme != "grpcs" {
		return fail("its scheme is %q", u.Scheme)
	}
	if u.Hostname() == "" || u.Port() == "" {
		return fail("host or port is missing")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fail("%w", err)
	}
	t := target{
		secure: u.Scheme == "grpcs", endpoint: u.Host,
		database: path.Clean("/" + strings.Trim(cmp.Or(query.Get("database"), u.Path), "/")),
	}
	directory := strings.Trim(query.Get("directory"), "/")
	query.Del("directory")
	u.RawQuery = query.Encode()
	t.dsn = u.String()
	if t.database == "/" {
		return fail("the database is missing")
	}
	if !directoryPattern.MatchString(t.database[1:]) {
		return fail("the database must be letters, digits, _ . - and / only")
	}
	if directory == "" {
		t.prefix = t.database
		return t, nil
	}
	if !directoryPattern.MatchString(directory) || path.Clean(directory) != directory || strings.HasPrefix(directory, "..") {
		return fail("the directory must be a path of letters, digits, _ . and - that stays in the database, but is %q", directory)
	}
	t.prefix = path.Join(t.database, directory)
	return t, nil
}
