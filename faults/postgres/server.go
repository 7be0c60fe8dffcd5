// Package postgres runs a PostgreSQL server of its own, from the programs that the
// machine has, for tests and measurements of Temporal on PostgreSQL. It leaves the
// machine's own clusters alone.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"gnomon/faults/processes"
)

// User owns the cluster.
const User = "gnomon"

// passwordFile has the password, in the directory.
const passwordFile = "password"

// portTries is how often another free port is tried, as another process may have taken
// one that was free.
const portTries = 5

// Config says what a Server is.
type Config struct {
	// Dir has the cluster, in data/, and its password. It is made where it is missing;
	// what is in it is used again. As PostgreSQL refuses to run as root, it runs as
	// Debian's user postgres then, who has to pass all directories above. Empty: a
	// temporary one, which goes with Stop.
	Dir string
	// Settings are parameters of postgresql.conf, such as fsync: "off".
	Settings map[string]string
}

// Server is a running PostgreSQL.
type Server struct {
	// Address is its host:port on the loopback interface, Password that of [User],
	// which is also in PasswordFile.
	Address, Password, PasswordFile string

	process *processes.Process
	remove  string
}

// Start starts a server and returns when it accepts connections. It dies with this
// process at the latest; [Server.Stop] ends it.
func Start(ctx context.Context, c Config) (_ *Server, err error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	remove := ""
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "gnomon-postgres-"); err != nil {
			return nil, err
		}
		remove = c.Dir
	}
	defer func() {
		if err != nil && remove != "" {
			err = errors.Join(err, os.RemoveAll(remove))
		}
	}()
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return nil, err
	}
	owner, err := unprivileged()
	if err != nil {
		return nil, err
	}
	password, err := prepare(ctx, bin, c.Dir, owner)
	if err != nil {
		return nil, err
	}
	for range portTries {
		var s *Server
		if s, err = start(ctx, bin, c, owner); err == nil {
			s.Password, s.PasswordFile, s.remove = password, filepath.Join(c.Dir, passwordFile), remove
			return s, nil
		}
		if !strings.Contains(err.Error(), "Address already in use") {
			break
		}
	}
	return nil, err
}

// Stop ends the sessions of clients and the server.
func (s *Server) Stop() error {
	s.process.Interrupt() // the fast shutdown; SIGTERM's waits for clients
	if s.remove == "" {
		return nil
	}
	return os.RemoveAll(s.remove)
}

func start(ctx context.Context, bin string, c Config, o owner) (*Server, error) {
	address, err := free(ctx)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{
		"listen_addresses": host, "port": port, "unix_socket_directories": "", "max_connections": "100",
		// Files go with the directory; POSIX shared memory would outlive a kill -9.
		"dynamic_shared_memory_type": "mmap",
	}
	maps.Copy(settings, c.Settings)
	args := []string{"-D", filepath.Join(c.Dir, "data")}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), args...) //nolint:gosec,noctx // found by binaries; its end is Stop
	o.become(cmd, c.Dir)
	p, err := processes.StartCommand("postgres", cmd)
	if err != nil {
		return nil, err
	}
	if _, err := p.Err(ctx, "ready to accept connections"); err != nil {
		p.Kill()
		return nil, err
	}
	return &Server{Address: address, process: p}, nil
}

// free is an address that nobody listens on.
func free(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// prepare makes the cluster where there is none, and gives its password.
func prepare(ctx context.Context, bin, dir string, o owner) (string, error) {
	file := filepath.Join(dir, passwordFile)
	switch password, err := os.ReadFile(file); {
	case err == nil:
		return string(password), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := o.own(dir); err != nil {
		return "", err
	}
	// What an initdb left that was interrupted.
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
		return "", err
	}
	password, unfinished := uuid.NewString(), file+".new"
	if err := os.WriteFile(unfinished, []byte(password), 0o600); err != nil {
		return "", err
	}
	if err := o.own(unfinished); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", filepath.Join(dir, "data"), //nolint:gosec // found by binaries
		"--username", User, "--auth", "scram-sha-256", "--pwfile", unfinished, "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	o.become(cmd, dir)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("postgres: initdb: %w\n%s", err, said)
	}
	return password, os.Rename(unfinished, file)
}

// owner is whom the server runs as, where that is not this process's user.
type owner struct {
	uid, gid int
	other    bool
}

func (o owner) own(path string) error {
	if !o.other {
		return nil
	}
	return os.Chown(path, o.uid, o.gid)
}

// become has a command run as the owner in his directory, in English.
func (o owner) become(cmd *exec.Cmd, dir string) {
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + dir}
	if o.other {
		setUser(cmd, o.uid, o.gid)
	}
}

// ids reads a user's ids.
func ids(uid, gid string) (o owner, err error) {
	o.other = true
	if o.uid, err = strconv.Atoi(uid); err == nil {
		o.gid, err = strconv.Atoi(gid)
	}
	return o, err
}
