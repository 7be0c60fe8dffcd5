package scenarios

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
	"gnomon/store"
	"gnomon/store/sqlite"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Mirror measures the store alone, without Temporal: rows a second with 16 writers and
// full fsync, each write a row of its own, for a time.
func Mirror(ctx context.Context, dir string, r *report.Report, tell func(string, ...any), rounds int, each time.Duration) error {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "writers.db"), Migrate: true})
	if err != nil {
		return err
	}
	defer s.Close()
	var rates []float64
	var number atomic.Int64
	for round := range rounds {
		tell("mirror writes, round %d of %d", round+1, rounds)
		begun, first, over := time.Now(), number.Load(), time.Now().Add(each)
		errs := make([]error, Clients)
		var writing sync.WaitGroup
		for i := range Clients {
			writing.Go(func() {
				for errs[i] == nil && time.Now().Before(over) && ctx.Err() == nil {
					_, errs[i] = s.PutActions(ctx, []store.Row{mirrorRow(int(number.Add(1)))})
				}
			})
		}
		writing.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		rates = append(rates, float64(number.Load()-first)/time.Since(begun).Seconds())
	}
	stats := s.Stats()
	r.Target("mirror_rows_per_second", "SQLite, synchronous=FULL", report.SpreadOf(rates), "")
	r.Also("mirror_rows_per_fsync", "SQLite, synchronous=FULL", "rows that share a commit, 16 writers",
		report.Exactly(float64(stats.Writes)/float64(max(1, stats.Transactions))))
	return nil
}

// List measures pages of 100 among many rows in SQLite on disk, through the facade: each
// begins at a random due time.
func List(ctx context.Context, on *Bench, rows, pages int) error {
	path := filepath.Join(on.Site.Dir, "list.db")
	if err := fillRows(ctx, path, rows, on.Tell); err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	defer s.Close()
	g, err := contenders.NewGnomon(contenders.GnomonConfig{Client: on.Site.Client, Store: s, Queue: "lists", NoWorker: true, Logger: on.Site.Log})
	if err != nil {
		return err
	}
	defer g.Close()
	on.Tell("pages among %d rows", rows)
	note := ""
	if rows < 1_000_000 {
		note = fmt.Sprintf("%d rows", rows)
	}
	var p99 []float64
	const rounds = 5
	for range rounds {
		calls, err := list(ctx, g.Actions, pages/rounds, func(int) string {
			from := epoch.Add(time.Duration(rand.IntN(max(1, rows-2*pageSize))) * time.Millisecond) //nolint:gosec // drawn, not secret
			return fmt.Sprintf(`state = "SCHEDULED" AND scheduled_at >= %q`, from.Format(time.RFC3339Nano))
		})
		if err != nil {
			return err
		}
		p99 = append(p99, report.Percentile(calls, 0.99))
	}
	on.Report.Target("list_p99_ms", "SQLite on disk", report.SpreadOf(p99), note)
	return nil
}

// epoch is when the first of many rows is due.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// fillRows writes rows that are due one millisecond after another.
func fillRows(ctx context.Context, path string, rows int, tell func(string, ...any)) error {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path, Migrate: true, RelaxedSync: true})
	if err != nil {
		return err
	}
	defer s.Close()
	const part = 1000
	for done := 0; done < rows; done += part {
		if done%(50*part) == 0 {
			tell("list: %d of %d rows", done, rows)
		}
		batch := make([]store.Row, min(part, rows-done))
		for i := range batch {
			batch[i] = mirrorRow(done + i)
		}
		if _, err := s.PutActions(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// mirrorRow is that of an action that waits.
func mirrorRow(n int) store.Row {
	at := epoch.Add(time.Duration(n) * time.Millisecond)
	a := contenders.Action(contenders.Job{
		ID: fmt.Sprintf("row-%09d", n), Due: at, URL: "http://127.0.0.1:7790/ok", Body: make([]byte, payloadBytes),
	})
	a.GetMeta().Guid = "00000000-0000-4000-8000-000000000000"
	a.GetMeta().CreateTime, a.GetMeta().UpdateTime = timestamppb.New(epoch), timestamppb.New(epoch)
	a.Status = &gnomonv1.Status{State: gnomonv1.Status_SCHEDULED, ScheduledAt: timestamppb.New(at)}
	return store.Row{Action: a, Revision: store.Revision{Incarnation: epoch, Sequence: 1}, Chain: a.GetMeta().GetGuid()}
}
