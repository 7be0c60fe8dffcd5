package site

import (
	"context"
	"time"

	"gnomon/faults/postgres"
)

// defaultHeartbeat is that of the worker as it is shipped.
const defaultHeartbeat = 10 * time.Second

// AsShipped has workers begin with the heartbeat timeout that they are shipped with: where
// none is killed, a short one would only have attempts that wait for their rows report more
// often than anybody's do.
func (s *Site) AsShipped() { s.heartbeat = defaultHeartbeat }

// NewProduction is New over a PostgreSQL and with the rows in YDB's double, which
// `gnomon migrate` has prepared; each is a process. Temporal may be killed and started
// again, the two databases may not.
func NewProduction(ctx context.Context, dir string) (*Site, error) {
	s, err := newSite(ctx, dir)
	if err != nil {
		return s, err
	}
	s.heartbeat = defaultHeartbeat
	// The disk is not what is tried here: neither is the machine's power lost, nor
	// PostgreSQL killed.
	if s.postgres, err = postgres.Start(ctx, postgres.Config{Settings: map[string]string{"fsync": "off"}}); err != nil {
		return s, err
	}
	if err := s.startYDB(ctx); err != nil {
		return s, err
	}
	return s, s.StartTemporal(ctx)
}

// database is what Temporal's data is on, as arguments of its role.
func (s *Site) database() []string {
	if s.postgres == nil {
		return []string{"--dir", s.Dir}
	}
	return []string{"--postgres", s.postgres.Address, "--password-file", s.postgres.PasswordFile}
}
