package bind

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
)

// V-14: a worker that stalls in the middle of a change, as a machine that is suspended
// would, and wakes up after its successor has finished the batch can neither apply nor
// record: what it had sent comes too late for BIND, what it knows is refused by the
// store, and it begins no other change.
func TestStalledWorker(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	server := bindtest.Start(t, bindtest.Options{Zones: map[string]string{"stalled-asked.test": standing, "stalled-answered.test": standing}})
	t.Run("its update is on the way", func(t *testing.T) {
		t.Parallel()
		stall(t, server, "stalled-asked.test", asked)
	})
	t.Run("it has not recorded what it applied", func(t *testing.T) {
		t.Parallel()
		stall(t, server, "stalled-answered.test", answered)
	})
}

// stall has a worker stall in the fifth of ten changes, while its update (asked) or BIND's
// answer (answered) is on the way, until the batch is done.
func stall(t *testing.T, server *bindtest.Server, zone string, at point) {
	t.Helper()
	const stalled = 4
	s, steps := open(t, server, zone), ten(t, zone)
	old := s.work(t)
	held, release := make(chan error), make(chan struct{})
	// Of every update that BIND got: which change's, and the answer.
	type result struct{ change, rcode, tsig int }
	results := make(chan result, 100)
	var stalls atomic.Bool
	hold := func(here point, change int) {
		if here != at || change != stalled || !stalls.CompareAndSwap(false, true) {
			return
		}
		held <- old.Freeze(t.Context())
		<-release
	}
	s.proxy.Watch(bindtest.Watch{
		Asked: func(m *dns.Msg) bool {
			hold(asked, indexOf(steps, m))
			return true
		},
		Answered: func(m, answer *dns.Msg) bool {
			change := indexOf(steps, m)
			r := result{change: change, rcode: answer.Rcode}
			if sig := answer.IsTsig(); sig != nil {
				r.tsig = int(sig.Error)
			}
			results <- r
			hold(answered, change)
			return true
		},
	})
	s.submit(t, zone, soon(), changesOf(steps)...)
	require.NoError(t, <-held)

	successor := s.work(t)
	done := s.reaches(t, zone, gnomonv1.BatchStatus_COMPLETE)
	judge(t, server, zone, steps, done)
	for i, c := range done.GetChanges() {
		of := old
		if i >= stalled {
			of = successor
		}
		require.Contains(t, c.GetStatus().GetWorker(), fmt.Sprintf("/%d", of.PID()), "change %d", i)
	}
	for i := range steps {
		require.Equal(t, result{change: i}, <-results)
	}

	close(release)
	if at == asked {
		require.Equal(t, result{stalled, dns.RcodeNotAuth, dns.RcodeBadTime}, <-results, "BIND refuses what comes late")
	}
	old.Thaw()
	_, err := old.Err(t.Context(), "a later attempt has the batch")
	require.NoError(t, err, "the store refuses what it would record")
	// It goes down in peace, and with it all that it might still be doing.
	old.Stop()
	require.Zero(t, old.ExitCode(), old.Tail())
	require.Empty(t, results, "it sends no more")
	judge(t, server, zone, steps, s.get(t, zone))
	require.True(t, proto.Equal(done, s.get(t, zone)), "nothing is recorded any more")
}
