package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// ports are the TCP ports of one server, each free when they were chosen.
type ports struct {
	frontend, frontendHTTP, history, matching, worker, ui int
}

// choosePorts picks all ports at once. Temporal and its UI open their listeners
// themselves, so a chosen port has to be let go in between; see reserve for why
// nobody else is given it meanwhile.
func choosePorts(ctx context.Context, cfg Config) (ports, error) {
	var (
		chosen ports
		held   []net.Listener
	)
	// All are held until the last is chosen, or the kernel could hand out one twice.
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	want := []struct {
		name string
		ip   string
		port int
		to   *int
	}{
		{"Port", cfg.Address, cfg.Port, &chosen.frontend},
		{"UIPort", cfg.Address, cfg.UIPort, &chosen.ui},
		{"", cfg.Address, 0, &chosen.frontendHTTP},
		{"", defaultAddress, 0, &chosen.history},
		{"", defaultAddress, 0, &chosen.matching},
		{"", defaultAddress, 0, &chosen.worker},
	}
	for _, w := range want {
		if w.port == NoUI {
			continue
		}
		l, err := reserve(ctx, w.ip, w.port)
		if err != nil {
			if w.port == 0 {
				return ports{}, fmt.Errorf("devserver: no free port on %s: %w", w.ip, err)
			}
			return ports{}, fmt.Errorf("devserver: %s %d on %s is not free: %w", w.name, w.port, w.ip, err)
		}
		held = append(held, l)
		*w.to = l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert,errcheck // A TCP listener's address is one.
	}
	return chosen, nil
}

// reserve listens on a port. For a port of the kernel's choice it also leaves a
// closed connection behind: while that lingers (TIME_WAIT, a minute on Linux)
// the kernel gives the port to nobody who asks for any free one, whereas who
// names it may listen on it, since Go sets SO_REUSEADDR.
func reserve(ctx context.Context, ip string, port int) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	if err != nil || port != 0 {
		return l, err
	}
	if err := linger(ctx, l); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// linger accepts one connection on l and closes the accepting end first, which
// is the end that TIME_WAIT stays with.
func linger(ctx context.Context, l net.Listener) error {
	var d net.Dialer
	dialled, err := d.DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return err
	}
	accepted, err := l.Accept()
	if err != nil {
		return errors.Join(err, dialled.Close())
	}
	return errors.Join(accepted.Close(), dialled.Close())
}
