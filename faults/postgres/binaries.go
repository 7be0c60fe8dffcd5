package postgres

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// ErrMissing says that this machine has no PostgreSQL. Debian's package postgresql
// brings it.
var ErrMissing = errors.New("postgres: neither PATH nor Debian's directories have initdb and postgres")

// debian is where Debian keeps the programs of each version, which it leaves out of
// PATH.
const debian = "/usr/lib/postgresql/*/bin"

// Available says whether this machine has PostgreSQL's programs.
func Available() bool {
	_, err := binaries()
	return err == nil
}

// binaries is the directory with the programs of the newest version, or of the one in
// PATH.
func binaries() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil && complete(filepath.Dir(found)) {
			return filepath.Dir(found), nil
		}
	}
	all, err := filepath.Glob(debian)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(dir string) bool { return !complete(dir) })
	if len(all) == 0 {
		return "", ErrMissing
	}
	return slices.MaxFunc(all, func(a, b string) int { return version(a) - version(b) }), nil
}

// complete says whether a directory has what is needed here.
func complete(dir string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, program)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// version is that in one of Debian's directories.
func version(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // 0 for what is none
	return n
}
