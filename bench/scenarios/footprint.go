package scenarios

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
	"gnomon/bench/site"
	"gnomon/faults/processes"
)

// Waiting compares the bytes that a waiting action of some contenders, a1 and gnomon among
// them, takes in the core tables of
// Temporal's SQLite. It needs a site on disk.
func (b *Bench) Waiting(ctx context.Context, n int, names ...string) error {
	each := map[string]site.Bytes{}
	for _, name := range names {
		if err := b.Take(ctx, name); err != nil {
			return err
		}
		b.Tell("bytes of what waits: %s", name)
		before, err := b.settledBytes(ctx)
		if err != nil {
			return err
		}
		jobs, _ := b.jobs(b.contenders[name], n, farAway())
		if _, err := create(ctx, b.contenders[name], jobs, Clients); err != nil {
			return err
		}
		after, err := b.settledBytes(ctx)
		if err != nil {
			return err
		}
		each[name] = after.Since(before, n)
	}
	on := string(b.Site.Kind)
	b.Report.Target("waiting_bytes_vs_a1", on, report.Exactly(float64(each[contenders.Gnomon].Core())/float64(each[contenders.A1].Core())), "")
	for _, name := range slices.Sorted(maps.Keys(each)) {
		bytes := each[name]
		b.Report.Also("waiting_bytes "+name, on, "bytes in the core tables", report.Exactly(float64(bytes.Core())))
		b.Report.Also("waiting_list_bytes "+name, on, "bytes in the tables that lists and counts are answered from", report.Exactly(float64(bytes.Lists())))
		for _, table := range slices.Sorted(maps.Keys(bytes)) {
			if bytes[table] > 0 && (name == contenders.A1 || name == contenders.Gnomon) {
				b.Report.Also("waiting_bytes "+name+" "+table, on, "bytes in one table", report.Exactly(float64(bytes[table])))
			}
		}
	}
	return nil
}

// settledBytes waits until the first tasks of what was created are done: what is kept does
// not change any more. Temporal's queues always do.
func (b *Bench) settledBytes(ctx context.Context) (site.Bytes, error) {
	path := filepath.Join(b.Site.TemporalDir(), "temporal.db")
	var last site.Bytes
	for same := 0; same < 3; {
		now, err := site.TableBytes(ctx, path)
		if err != nil {
			return now, err
		}
		if now.Core() == last.Core() && now.Lists() == last.Lists() {
			same++
		} else {
			same, last = 0, now
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return last, nil
}

// Resident measures how much memory of worker and facade each waiting action takes
// beyond the cache, which is made small.
func (b *Bench) Resident(ctx context.Context, warm, more int) error {
	const cache, rows, queue = 100, 30_000, "resident"
	// SQLite keeps some megabytes of pages: of a mirror that is small they would grow with
	// what waits, until they are all used.
	if err := fillRows(ctx, b.Site.MirrorPath(queue), rows, b.Tell); err != nil {
		return err
	}
	p, address, err := b.Site.Process(ctx, queue, "--cache", strconv.Itoa(cache))
	if err != nil {
		return err
	}
	defer p.Stop()
	g, err := contenders.DialGnomon(address)
	if err != nil {
		return err
	}
	defer g.Close()
	weights := make([]int64, 0, 2)
	// The first ones fill the cache and what grows to its size once.
	for step, n := range []int{warm, more} {
		jobs, _ := b.jobs(g, n, farAway())
		for begin := 0; begin < n; begin += 500 {
			b.Tell("resident memory: %d of %d wait", begin, n)
			if _, err := create(ctx, patient{g}, jobs[begin:min(n, begin+500)], Clients); err != nil {
				return err
			}
		}
		bytes, err := residentBytes(ctx, p, strconv.Itoa(step))
		if err != nil {
			return err
		}
		weights = append(weights, bytes)
	}
	note := fmt.Sprintf("%d after %d, cache of %d", more, warm, cache)
	b.Report.Target("rss_bytes_per_waiting", string(b.Site.Kind), report.Exactly(float64(weights[1]-weights[0])/float64(more)), note)
	return nil
}

// residentBytes asks gnomon's process for its resident bytes until they no longer fall: the
// first workflow tasks of what was created may still be under way.
func residentBytes(ctx context.Context, p *processes.Process, step string) (int64, error) {
	least := int64(0)
	for try := 0; ; try++ {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(2 * time.Second):
		}
		name := step + "." + strconv.Itoa(try)
		if err := p.Tell(name); err != nil {
			return 0, err
		}
		prefix := "resident " + strconv.Quote(name) + " "
		line, err := p.Out(ctx, prefix)
		if err != nil {
			return 0, err
		}
		bytes, err := strconv.ParseInt(strings.TrimPrefix(line, prefix), 10, 64)
		if err != nil {
			return 0, err
		}
		if try > 0 && bytes >= least {
			return least, nil
		}
		least = bytes
	}
}
