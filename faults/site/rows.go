package site

import (
	"context"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
	"gnomon/store"
)

// watchEvery is how often the rows are looked at.
const watchEvery = 100 * time.Millisecond

// WatchRows records every change of a row that it sees, until ctx ends: the witness
// of rows that go back to an older revision.
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
	seen := map[string]string{}
	for {
		began := time.Now()
		all, err := record.Table(ctx, rows)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for id, r := range all {
			revision := r.Revision.Encode()
			state := r.Action.GetStatus().GetState()
			look := revision + r.Action.GetMeta().GetGuid() + state.String()
			if seen[id] == look {
				continue
			}
			seen[id] = look
			log.Add(row(r, began))
		}
		// A great table is not to be read all the time.
		pause := time.NewTimer(max(watchEvery, 10*time.Since(began)))
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil
		case <-pause.C:
		}
	}
}

func row(r store.Row, at time.Time) record.Row {
	return record.Row{
		At: at.UTC(), ID: r.Action.GetMeta().GetId(), GUID: r.Action.GetMeta().GetGuid(),
		Revision: r.Revision.Encode(), State: stateOf(r.Action.GetStatus()),
	}
}

func stateOf(st *gnomonv1.Status) string { return st.GetState().String() }
