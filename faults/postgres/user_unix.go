//go:build unix

package postgres

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"syscall"
)

// unprivileged is whom to run as: this process's user, unless that is root.
func unprivileged() (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if found, err := user.Lookup(name); err == nil {
			return ids(found.Uid, found.Gid)
		}
	}
	return owner{}, errors.New("postgres: it does not run as root, and there is no user postgres")
}

func setUser(cmd *exec.Cmd, uid, gid int) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
