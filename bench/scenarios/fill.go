package scenarios

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gnomon/bench/contenders"
)

const (
	// fillClients is how many fill a site whose commits cost nothing.
	fillClients = 64
	// patience is how long a create that fills is tried, and triedAgain the pause between.
	patience   = 2 * time.Minute
	triedAgain = time.Second
)

// patient fills a site: its creates are not measured, so one that came too late is made
// again. Every commit of Temporal's SQLite and of the mirror waits for a disk that other
// programs may keep busy, and a call of the facade has 30 seconds.
type patient struct{ *contenders.GnomonService }

// Create implements contenders.Contender.
func (p patient) Create(ctx context.Context, j contenders.Job) error {
	until := time.Now().Add(patience)
	for again := false; ; again = true {
		err := p.GnomonService.Create(ctx, j)
		switch code := status.Code(err); {
		case err == nil, errors.Is(err, contenders.ErrUnmirrored):
			return nil
		case again && code == codes.AlreadyExists:
			return nil // what was said to have failed took effect
		case code != codes.DeadlineExceeded && code != codes.Unavailable && code != codes.ResourceExhausted, time.Now().After(until):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(triedAgain):
		}
	}
}
