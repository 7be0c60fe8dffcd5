package bind

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
	"gnomon/faults/processes"
)

// point is where the worker is killed in the life of one change.
type point string

const (
	// asked: it has sent the update, which is lost with it.
	asked point = "asked"
	// sent: it has sent the update, which arrives after its death.
	sent point = "sent"
	// answered: the change is applied and the worker does not know.
	answered point = "answered"
	// told: it has the answer and is recording that, or has.
	told point = "told"
)

var points = []point{asked, sent, answered, told}

// kill is one kill -9 of the worker.
type kill struct {
	change int
	at     point
}

// plan is one batch and what it lives through.
type plan struct {
	kills []kill
	// spoil has another client add what change 7 is about to add, so that it is
	// rejected.
	spoil bool
}

// name says the plan in the name of its batch and zone.
func (p plan) name(i int) string {
	if len(p.kills) > 1 {
		return fmt.Sprintf("b%d-each", i)
	}
	return fmt.Sprintf("b%d-%d-%s", i, p.kills[0].change, p.kills[0].at)
}

// plans are batches with so many kills in all. Each point of each change has its turn;
// from 100 on one batch is killed after each of its changes.
func plans(kills int) []plan {
	var all []plan
	if kills >= 100 {
		var each plan
		for k := range 10 {
			each.kills = append(each.kills, kill{k, points[k%len(points)]})
		}
		all = append(all, each)
		kills -= 10
	}
	for i := range kills {
		one := kill{i % 10, points[(i/10+i)%len(points)]}
		// A rejection before the kill, which the resumed batch must leave alone (V-12).
		all = append(all, plan{kills: []kill{one}, spoil: one.change > spoiled && i/10%2 == 0})
	}
	return all
}

// lanes are how many installations live through plans at once.
const lanes = 5

// V-11, V-12, V-13, V-16: the worker is killed -9 before, while and after each change of
// a batch of ten is applied. By BIND's journal no change is applied twice and none is
// skipped, and the outcome is right. GNOMON_TEST_KILLS is how often in all: 10 by
// default, and 100 for `make kills`.
func TestWorkerIsKilledAfterEachChange(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	kills := 10
	if text := os.Getenv("GNOMON_TEST_KILLS"); text != "" {
		var err error
		kills, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	all, zones := plans(kills), map[string]string{}
	for i, p := range all {
		zones[p.name(i)+".test"] = standing
	}
	server := bindtest.Start(t, bindtest.Options{Zones: zones})
	f := &figures{}
	// Runs after the lanes, which are parallel.
	t.Cleanup(func() { f.log(t) })
	var taken atomic.Int64
	for l := range min(lanes, len(all)) {
		t.Run(fmt.Sprint("lane", l), func(t *testing.T) {
			t.Parallel()
			s := open(t, server, slices.Sorted(maps.Keys(zones))...)
			for i := int(taken.Add(1)) - 1; i < len(all); i = int(taken.Add(1)) - 1 {
				e := &endurance{site: s, plan: all[i], zone: all[i].name(i) + ".test", dead: make(chan time.Time, 1), spoil: make(chan chan struct{})}
				e.run(t, f)
			}
		})
	}
}

// endurance is one batch that lives through its plan.
type endurance struct {
	*site
	plan plan
	zone string

	steps []step
	// dead tells of kills, and spoil asks for the other client.
	dead  chan time.Time
	spoil chan chan struct{}

	mu       sync.Mutex
	worker   *processes.Process
	left     []kill
	spoiling bool
	// updates counts those that reached BIND by change, and done those it did.
	updates, done [10]int
}

func (e *endurance) run(t *testing.T, f *figures) {
	t.Helper()
	e.steps, e.left, e.spoiling = ten(t, e.zone), slices.Clone(e.plan.kills), e.plan.spoil
	e.proxy.Watch(bindtest.Watch{Asked: e.asked, Answered: e.answered, Told: e.told})
	e.worker = e.work(t)
	e.submit(t, e.zone, soon(), changesOf(e.steps)...)
	var killed time.Time
	for range e.plan.kills {
		killed = e.nextKill(t)
		next := e.work(t)
		e.mu.Lock()
		e.worker = next
		e.mu.Unlock()
	}
	want := gnomonv1.BatchStatus_COMPLETE
	if e.plan.spoil {
		want = gnomonv1.BatchStatus_PARTIAL_FAILURE
	}
	b := e.reaches(t, e.zone, want)
	took := time.Since(killed)
	e.worker.Stop() // the next batch has a worker of its own
	e.judge(t, b)
	f.add(e, took)
}

// nextKill waits until the worker is dead, and is the other client meanwhile.
func (e *endurance) nextKill(t *testing.T) time.Time {
	t.Helper()
	limit := time.NewTimer(within)
	defer limit.Stop()
	for {
		select {
		case at := <-e.dead:
			return at
		case done := <-e.spoil:
			e.server.NSUpdate(t, fmt.Sprintf("update add k7.%s. 300 CAA 0 issue \"other.example.net\"", e.zone))
			close(done)
		case <-limit.C:
			t.Fatalf("%s: the worker was not killed", e.zone)
		}
	}
}

// strike kills the worker if the plan says so here.
func (e *endurance) strike(change int, at ...point) (point, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.left) == 0 || e.left[0].change != change || !slices.Contains(at, e.left[0].at) {
		return "", false
	}
	was := e.left[0].at
	e.left = e.left[1:]
	e.dead <- e.worker.Kill()
	return was, true
}

func (e *endurance) asked(update *dns.Msg) bool {
	change := indexOf(e.steps, update)
	if change == spoiled {
		e.mu.Lock()
		now := e.spoiling
		e.spoiling = false
		e.mu.Unlock()
		if now {
			done := make(chan struct{})
			e.spoil <- done
			<-done
		}
	}
	// It may have recorded the change before and gone on before it was killed.
	if _, struck := e.strike(change-1, told); struck {
		return false
	}
	if at, struck := e.strike(change, asked, sent); struck && at == asked {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates[change]++
	return true
}

func (e *endurance) answered(update, answer *dns.Msg) bool {
	change := indexOf(e.steps, update)
	if answer.Rcode == dns.RcodeSuccess {
		e.mu.Lock()
		e.done[change]++
		e.mu.Unlock()
	}
	_, struck := e.strike(change, answered)
	return !struck
}

func (e *endurance) told(update *dns.Msg) { e.strike(indexOf(e.steps, update), told) }

// judge has BIND decide.
func (e *endurance) judge(t *testing.T, b *gnomonv1.Batch) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	require.Empty(t, e.left)
	for i, n := range e.done {
		want := 1
		if e.plan.spoil && i == spoiled {
			want = 0
		}
		require.Equal(t, want, n, "%s: updates of change %d that BIND did", e.zone, i)
	}
	if !e.plan.spoil {
		judge(t, e.server, e.zone, e.steps, b)
		return
	}
	var want []string
	for i, s := range e.steps {
		st := b.GetChanges()[i].GetStatus()
		if i != spoiled {
			want = append(want, s.journal...)
			require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, st.GetState(), "change %d", i)
			continue
		}
		// It was rejected before the kill: that is final, and it is not tried again.
		want = append(want, fmt.Sprintf(`add k7.%s. 300 IN CAA 0 issue "other.example.net"`, e.zone))
		require.Equal(t, gnomonv1.ChangeStatus_FAILED, st.GetState())
		require.EqualValues(t, 1, st.GetAttempts())
		require.Equal(t, 1, e.updates[spoiled])
	}
	require.Equal(t, want, e.server.Journal(t, e.zone))
	require.EqualValues(t, 11, e.server.Serial(t, e.zone))
	require.EqualValues(t, 9, b.GetStatus().GetCompleteChanges())
	require.EqualValues(t, 1, b.GetStatus().GetFailedChanges())
}

// figures are those of all plans.
type figures struct {
	mu                              sync.Mutex
	batches, changes, updates, done int
	kills                           map[point]int
	rejected                        int
	took                            []time.Duration
}

func (f *figures) add(e *endurance, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kills == nil {
		f.kills = map[point]int{}
	}
	f.batches++
	f.changes += len(e.steps)
	for i := range e.steps {
		f.updates += e.updates[i]
		f.done += e.done[i]
	}
	for _, k := range e.plan.kills {
		f.kills[k.at]++
	}
	if e.plan.spoil {
		f.rejected++
	}
	if len(e.plan.kills) == 1 {
		f.took = append(f.took, took)
	}
}

func (f *figures) log(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.took) == 0 {
		return
	}
	slices.Sort(f.took)
	t.Logf("kills %v in %d batches; %d changes, %d updates reached BIND, %d were done, %d changes rejected; from the kill to the end of the batch p50 %s, max %s",
		f.kills, f.batches, f.changes, f.updates, f.done, f.rejected,
		f.took[len(f.took)/2].Round(100*time.Millisecond), f.took[len(f.took)-1].Round(100*time.Millisecond))
}
