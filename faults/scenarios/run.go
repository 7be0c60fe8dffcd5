package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"gnomon/faults/processes"
	"gnomon/faults/record"
	"gnomon/faults/roles"
	"gnomon/faults/site"
	"gnomon/faults/verdict"
)

// Limits that the judge grants beside those of faults.md.
const (
	// Flight is how long after Temporal let an attempt begin its request may arrive.
	Flight = time.Second
	// Tolerance is for a machine of two cores that does other things too.
	Tolerance = 700 * time.Millisecond
)

// Run plays a scenario in a directory of its own below dir and has it judged by a
// process of its own, which reads only what is on record there. Say is told how it
// goes.
func Run(ctx context.Context, s Scenario, scale Scale, dir string, say func(string, ...any)) (v *verdict.Verdict, err error) {
	dir = filepath.Join(dir, s.Name)
	p := &play{scale: scale, rows: s.rows, say: say}
	if s.production {
		p.Site, err = site.NewProduction(ctx, dir)
	} else {
		p.Site, err = site.New(ctx, dir, s.rows)
	}
	if err != nil {
		if p.Site != nil {
			err = errors.Join(err, p.Stop())
		}
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	end, err := p.perform(ctx, s)
	if p.client != nil {
		err = errors.Join(err, p.client.Close())
	}
	err = errors.Join(err, p.Stop())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	err = record.WriteRun(dir, record.Run{
		Scenario: s.Name, Faults: s.Faults, Heartbeat: p.Heartbeat(), Flight: Flight, Tolerance: cmp.Or(scale.Tolerance, Tolerance),
		Linearizable: s.linearizable, End: end.UTC(),
	})
	if err != nil {
		return nil, err
	}
	say("judging")
	return judged(ctx, dir)
}

// perform plays it until all is at rest, which it was at the time it returns.
func (p *play) perform(ctx context.Context, s Scenario) (time.Time, error) {
	watch, stop := context.WithCancel(ctx)
	defer stop()
	var watched error
	var all group
	all.Go(func() { watched = p.WatchRows(watch) })
	err := s.play(ctx, p)
	if err == nil {
		err = p.rest(ctx)
	}
	if err == nil {
		err = p.Finals(ctx)
	}
	if err == nil {
		err = p.KeepRows(ctx)
	}
	end := time.Now()
	stop()
	all.Wait()
	return end, errors.Join(err, watched)
}

// judged is the verdict of a judge in a process of its own.
func judged(ctx context.Context, dir string) (*verdict.Verdict, error) {
	judge, err := processes.Start(dir, roles.Judge, dir, "-o", "json")
	if err != nil {
		return nil, err
	}
	defer judge.Kill()
	limit, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	line, err := judge.Last(limit)
	if err != nil {
		return nil, err
	}
	v := &verdict.Verdict{}
	return v, json.Unmarshal([]byte(line), v)
}
