package scenarios

import (
	"context"
	"fmt"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
)

const (
	// restFor is how long nothing may change before everything is at rest: longer than
	// a command waits for a worker, than the distance of retries, and than a heartbeat.
	restFor = 6 * time.Second
	// restWithin bounds the wait for that. What does not rest by then is judged as it is.
	restWithin = 3 * time.Minute
)

// rest waits until nothing is under way any more: no row changes, none is being
// performed or due.
func (p *play) rest(ctx context.Context) error {
	rows, err := p.OpenStore(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	limit, quiet, before := time.Now().Add(restWithin), time.Now(), ""
	for time.Now().Before(limit) {
		all, err := record.Table(ctx, rows)
		if err != nil {
			return err
		}
		busy, look := 0, fmt.Sprint(len(all))
		for id, r := range all {
			st := r.Action.GetStatus()
			switch st.GetState() { //nolint:exhaustive // the others wait or have ended
			case gnomonv1.Status_RUNNING, gnomonv1.Status_RETRYING:
				busy++
			case gnomonv1.Status_SCHEDULED:
				if st.GetScheduledAt().AsTime().Before(time.Now()) {
					busy++
				}
			}
			if busy > 0 && len(look) < 1000 {
				look += id + r.Revision.Encode()
			}
		}
		if busy > 0 || look != before {
			quiet, before = time.Now(), look
		}
		if time.Since(quiet) > restFor {
			return nil
		}
		p.say("coming to rest, %d under way", busy)
		if err := passes(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
