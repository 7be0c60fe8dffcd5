package model_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// atOnce is how many lives are lived side by side, at least: most of their time is
// waiting for each other's goroutines.
const atOnce = 48

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

// TestLives compares product and model over random lives. When they differ, rapid
// leaves the smallest such life in testdata/rapid, to become one of the regressions.
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
	seed := *soakSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	fmt.Fprintf(os.Stderr, "seed %d\n", seed)
	bar := progressbar.NewOptions64(*soaked,
		progressbar.OptionSetDescription("lives"), progressbar.OptionSetWriter(os.Stderr), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("lives"), progressbar.OptionThrottle(200*time.Millisecond))
	defer func() { fmt.Fprintln(os.Stderr) }()
	live(t, *soaked, seed, func() { _ = bar.Add(1) })
}

// live lives at least so many lives, some side by side. The flags of rapid still hold
// where they were given.
func live(t *testing.T, many int64, seed uint64, lived func()) {
	t.Helper()
	set := func(name, value string) {
		given := false
		flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
		if !given {
			require.NoError(t, flag.Lookup(name).Value.Set(value))
		}
	}
	set("rapid.checks", strconv.FormatInt(many, 10))
	set("rapid.seed", strconv.FormatUint(seed, 10))
	var count atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		if count.Load() >= many {
			return
		}
		batch := rapid.SliceOfN(lives, atOnce, 2*atOnce).Draw(t, "lives")
		wrong := make([]string, len(batch))
		var all sync.WaitGroup
		for i, l := range batch {
			all.Go(func() {
				wrong[i], _ = l.run(false)
				count.Add(1)
				lived()
			})
		}
		all.Wait()
		for i, l := range batch {
			if wrong[i] != "" {
				t.Fatal(l.tell(wrong[i]))
			}
		}
	})
}

// tell is a life with a difference as a person reads it.
func (l Life) tell(what string) string {
	again, story := l.run(true)
	if again != what {
		what += "\n(lived once more: " + again + ")"
	}
	return fmt.Sprintf("product and model differ: %s\n%s\n%#v", what, strings.Join(story, "\n"), l)
}
