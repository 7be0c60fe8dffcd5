package stages

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// five are the stages of the test of kills.
var five = []string{"quick", "ping", "pong", "slow", "timer"}

// size is a number from the environment.
func size(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}

// Issue 7: everything is killed with -9 and started again while entities with five stages
// are changed: no change unseen, no private state crossed, no commit half done, nothing
// side by side on one entity, and published at least once and in order for each.
func TestKilled(t *testing.T) {
	t.Parallel()
	changes := size("GNOMON_TEST_CHANGES", 200)
	each := 5
	if changes >= 1000 {
		each = 10
	}
	began := time.Now()
	s := openSite(t, 2,
		declared{"quick", "doc", "one", "    onSaved: true\n"}, declared{"ping", "doc", "one", ""}, declared{"pong", "doc", "two", ""},
		declared{"slow", "doc", "two", "    parallelism: 16\n"}, declared{"timer", "doc", "two", "    onSaved: true\n"})
	c := &clients{site: s}
	var ids []string
	for i := range changes / each {
		ids = append(ids, fmt.Sprintf("d%04d", i))
	}
	t.Logf("%s: %d entities are changed %d times each", time.Since(began).Round(time.Second), len(ids), each)
	done := c.change(t, ids, each, time.Duration(size("GNOMON_TEST_SECONDS", 15))*time.Second)
	kills := c.killUntil(t, done)
	acknowledged, repeats := c.counts()
	require.Equal(t, changes, acknowledged)
	t.Logf("%s: %d changes acknowledged, %d calls repeated; kills: %v", time.Since(began).Round(time.Second), acknowledged, repeats, kills)
	// The long form leaves thousands of visits to be made after the last kill.
	c.quiet(t, "doc", ids, 5*time.Minute+time.Duration(changes)*100*time.Millisecond)
	v := c.judge(t, "doc", ids, five, "quick")
	t.Logf("%s: %s", time.Since(began).Round(time.Second), v)
	for i, broken := range v.broken {
		if i < 20 {
			t.Error(broken)
		}
	}
	require.Empty(t, v.broken[min(20, len(v.broken)):], "more broken promises")
}

// change changes entities, some times in bursts, for at least this long; it tells when all is
// acknowledged.
func (c *clients) change(t *testing.T, ids []string, each int, lasting time.Duration) <-chan struct{} {
	t.Helper()
	const writers = 8
	done := make(chan struct{})
	var writing sync.WaitGroup
	rounds := 2
	pace := lasting / time.Duration(rounds*(len(ids)/writers+1))
	for w := range writers {
		writing.Go(func() {
			next := time.Now()
			for round := range rounds {
				for i := w; i < len(ids); i += writers {
					for n := round*each/rounds + 1; n <= (round+1)*each/rounds; n++ {
						if c.put(t.Context(), "doc", ids[i], n) != nil {
							return
						}
					}
					next = next.Add(pace)
					pause := time.NewTimer(time.Until(next))
					select {
					case <-pause.C:
					case <-t.Context().Done():
						return
					}
				}
			}
		})
	}
	go func() {
		writing.Wait()
		close(done)
	}()
	return done
}

// killUntil kills one part after the other until all was acknowledged, and says how often
// each.
func (c *clients) killUntil(t *testing.T, done <-chan struct{}) map[string]int {
	t.Helper()
	rounds := [][]*part{
		{c.workers[0]},
		{c.servers["one"]},
		{c.facade},
		{c.temporal},
		{c.workers[1]},
		{c.servers["two"]},
		{c.workers[0], c.workers[1], c.facade}, // whoever writes the store
	}
	kills := map[string]int{}
	killer, err := openRecorder(filepath.Join(c.dir, "killer.jsonl"))
	require.NoError(t, err)
	for i := 0; ; i++ {
		pause := time.NewTimer(1500 * time.Millisecond)
		select {
		case <-done:
			return kills
		case <-t.Context().Done():
			require.FailNow(t, "the test ends")
		case <-pause.C:
		}
		parts := rounds[i%len(rounds)]
		pid := parts[0].PID()
		at := again(t, parts...)
		if parts[0] == c.servers["one"] || parts[0] == c.servers["two"] {
			killer.write(line{What: killed, At: at.UnixNano(), Call: strconv.Itoa(pid)})
		}
		name := parts[0].name
		if len(parts) > 1 {
			name = "all that write the store"
		}
		kills[name]++
		if i%10 == 9 {
			acknowledged, _ := c.counts()
			t.Logf("%d kills, %d changes acknowledged", i+1, acknowledged)
		}
	}
}

// judge reads everything and judges.
func (c *clients) judge(t *testing.T, entityType string, ids, stages []string, teller string) *verdict {
	t.Helper()
	lines, err := readRecords(c.dir)
	require.NoError(t, err)
	lines, lost := withLost(lines)
	rows := c.open(t)
	finals := map[string]final{}
	for _, id := range ids {
		finals[id] = readFinal(t.Context(), t, rows, store.EntityKey{Type: entityType, ID: id}, stages)
	}
	v := judge(lines, c.all, finals, stages, teller)
	v.lost = lost
	return v
}

func readFinal(ctx context.Context, t *testing.T, rows store.Store, key store.EntityKey, stages []string) final {
	t.Helper()
	e, err := rows.GetEntity(ctx, key)
	require.NoError(t, err)
	f := final{entity: e, states: map[string]*gnomonv1.StageState{}}
	for _, stage := range stages {
		f.states[stage], err = rows.GetStageState(ctx, key, stage)
		require.NoError(t, err)
	}
	return f
}
