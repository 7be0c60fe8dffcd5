package site

import (
	"context"
	"fmt"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
	"gnomon/store"
)

const (
	// watchEvery is how often the rows are looked at, and longestPause the longest pause
	// between two looks.
	watchEvery   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	// blindFor is how long looking may fail: longer than any outage of the store here.
	blindFor = 2 * time.Minute
)

// WatchRows records every change of a row that it sees, until ctx ends: the witness
// of rows that go back to an older revision. It shares the store's outages with all its
// other users, and goes on after them.
func (s *Site) WatchRows(ctx context.Context) (err error) {
	rows, err := s.OpenStore(ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	log, err := record.OpenLog(s.Dir, record.RowsFile)
	if err != nil {
		return err
	}
	defer log.Close()
	seen, looked := map[string]string{}, time.Now()
	for {
		began := time.Now()
		all, err := record.Table(ctx, rows)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			looked = time.Now()
		case time.Since(looked) > blindFor:
			return fmt.Errorf("the rows could not be read for %s: %w", blindFor, err)
		}
		for id, r := range all {
			now := row(r, began)
			look := now.Revision + now.GUID + now.State + now.Shows
			if seen[id] == look {
				continue
			}
			seen[id] = look
			log.Add(now)
		}
		// A great table is not to be read all the time.
		pause := time.NewTimer(min(max(watchEvery, 10*time.Since(began)), longestPause))
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil
		case <-pause.C:
		}
	}
}

func row(r store.Row, at time.Time) record.Row {
	st := r.Action.GetStatus()
	return record.Row{
		At: at.UTC(), ID: r.Action.GetMeta().GetId(), GUID: r.Action.GetMeta().GetGuid(),
		Revision: r.Revision.Encode(), State: stateOf(st),
		Shows: fmt.Sprintf("tombstone=%t %d/%d/%d", r.Tombstone,
			st.GetSuccessfulAttemptsCounter(), st.GetFailedAttemptsCounter(), st.GetInterruptedAttemptsCounter()),
	}
}

func stateOf(st *gnomonv1.Status) string { return st.GetState().String() }
