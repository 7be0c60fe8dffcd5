package model_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
	"pgregory.net/rapid"
)

// atOnce is how many lives are lived side by side: most of their time is waiting for
// each other's goroutines.
const atOnce = 64

// tested is how many lives TestLives lives.
const tested = 3000

var (
	soaked   = flag.Int64("lives", 0, "how many lives TestSoak lives")
	soakSeed = flag.Uint64("seed", 0, "what TestSoak draws them from; 0: any")
)

// testedSeed is what TestLives draws from: the same lives each time, so that a change
// that breaks one is told from a life that nobody has lived before, which is what
// make soak looks for.
const testedSeed = 7

// TestLives compares product and model over random lives.
func TestLives(t *testing.T) {
	t.Parallel()
	t.Logf("seed %d", testedSeed)
	live(t, tested, testedSeed, func() {})
}

// TestSoak is TestLives for as many lives as one likes: make soak LIVES=N SEED=S.
func TestSoak(t *testing.T) {
	t.Parallel()
	if *soaked == 0 {
		t.Skip("asked for by make soak")
	}
	debug.SetGCPercent(400) // lives are short: half of the time would go into collecting them
	seed := *soakSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	fmt.Fprintf(os.Stderr, "seed %d\n", seed)
	live(t, *soaked, seed, progress(*soaked))
}

// progress shows how many lives have been lived: a bar on a terminal, else a line for
// each twentieth.
func progress(many int64) func() {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		var lived atomic.Int64
		return func() {
			if n := lived.Add(1); n*20/many > (n-1)*20/many {
				fmt.Fprintf(os.Stderr, "%d of %d lives\n", n, many)
			}
		}
	}
	bar := progressbar.NewOptions64(many,
		progressbar.OptionSetDescription("lives"), progressbar.OptionSetWriter(os.Stderr), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("lives"), progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(os.Stderr) }))
	return func() { _ = bar.Add(1) }
}

// live lives so many lives, each drawn from a seed of its own. The first that differs is
// lived once more alone: rapid makes it smaller and keeps it in testdata/rapid, from
// where it is lived before all others until it no longer differs. It is to become one of
// the regressions.
func live(t *testing.T, many int64, seed uint64, lived func()) {
	t.Helper()
	if given("rapid.failfile") || given("rapid.seed") {
		rapid.Check(t, alike)
		return
	}
	set(t, "rapid.checks", 0)
	rapid.Check(t, alike) // those that were kept
	if one, what := search(many, seed, lived); what != "" {
		fmt.Fprintf(os.Stderr, "\nthe life of seed %d differs: %s\n", one, what)
		set(t, "rapid.checks", 1)
		set(t, "rapid.seed", one)
		rapid.Check(t, alike)
		t.Fatalf("alone it does not, so that it depends on the lives beside it: %#v", drawn(one))
	}
}

// search lives lives until one differs, some side by side, and gives its seed.
func search(many int64, seed uint64, lived func()) (uint64, string) {
	var (
		next  atomic.Int64
		found atomic.Bool
		mu    sync.Mutex // of what follows
		first int64
		what  string
		all   sync.WaitGroup
	)
	for range atOnce {
		all.Go(func() {
			for i := next.Add(1) - 1; i < many && !found.Load(); i = next.Add(1) - 1 {
				differs, _ := drawn(nth(seed, i)).run(false)
				lived()
				if differs == "" {
					continue
				}
				mu.Lock()
				if !found.Swap(true) || i < first {
					first, what = i, differs
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return nth(seed, first), what
}

// nth is the seed of a life among those of a seed. That of the first is the seed itself,
// so that LIVES=1 lives one again; the others are far from those of a seed nearby
// (splitmix64).
func nth(seed uint64, i int64) uint64 {
	if i == 0 {
		return seed
	}
	z := seed + uint64(i)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return max(1, z^z>>31) // rapid takes 0 for any
}

// drawn is the life that rapid draws first from a seed.
func drawn(seed uint64) Life { return lives.Example(int(seed)) }

// alike is the property: product and model live a life alike.
func alike(t *rapid.T) {
	l := lives.Draw(t, "life")
	if what, _ := l.run(false); what != "" {
		t.Fatal(l.tell(what))
	}
}

// tell is a life with a difference as a person reads it.
func (l Life) tell(what string) string {
	again, story := l.run(true)
	if again != what {
		what += "\n(lived once more: " + again + ")"
	}
	return fmt.Sprintf("product and model differ: %s\n%s\n%#v", what, strings.Join(story, "\n"), l)
}

func given(name string) bool {
	found := false
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// set gives one of rapid's flags a value for the checks that follow. It does not make it
// one that was given.
func set(t *testing.T, name string, value uint64) {
	t.Helper()
	require.NoError(t, flag.Lookup(name).Value.Set(strconv.FormatUint(value, 10)))
}
