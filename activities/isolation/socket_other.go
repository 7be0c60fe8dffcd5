//go:build !unix

package isolation

import (
	"errors"
	"net"
	"os"
	"os/exec"
)

// Supported says whether this system can isolate.
const Supported = false

func apart(*exec.Cmd) {}

func socketPair() (net.Conn, *os.File, error) {
	return nil, nil, errors.New("this system passes no sockets to children")
}

func connection(int) (net.Conn, error) {
	return nil, errors.New("this system passes no sockets to children")
}
