package bind

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
)

// V-09, V-12, V-16, V-18: a worker is killed in the middle of a batch of ten, before
// (asked) or after (answered) BIND has the seventh change, and another client changes the
// zone before a worker is back. What the batch has done itself is no problem; what cannot
// be done any more is, and nothing more is applied. After a repair retry does what is
// left, and nothing twice.
func TestZoneIsChangedWhileTheWorkerIsDead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	zones := map[string]string{"dead-asked.test": standing, "dead-answered.test": standing}
	server := bindtest.Start(t, bindtest.Options{Zones: zones})
	for at, want := range map[point][]found{
		asked:    {{6, hard, "RECORD_EXISTS"}, {spoiled, hard, "RECORD_EXISTS"}},
		answered: {{spoiled, hard, "RECORD_EXISTS"}},
	} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			zone := "dead-" + string(at) + ".test"
			s, steps := open(t, server, zone), ten(t, zone)
			worker := s.work(t)
			var stricken atomic.Bool
			dead := make(chan struct{})
			strike := func(here point, m *dns.Msg) bool {
				if here != at || indexOf(steps, m) != 6 || !stricken.CompareAndSwap(false, true) {
					return true
				}
				worker.Kill()
				close(dead)
				return false
			}
			s.proxy.Watch(bindtest.Watch{
				Asked:    func(m *dns.Msg) bool { return strike(asked, m) },
				Answered: func(m, _ *dns.Msg) bool { return strike(answered, m) },
			})
			s.submit(t, zone, soon(), changesOf(steps)...)
			<-dead

			spoil := []string{"add k7." + zone + ". 300 IN CAA 0 issue \"other.example.net\""}
			if at == asked {
				spoil = append(spoil, "add s6."+zone+". 300 IN SRV 9 9 9 other.example.net.")
			}
			var repair []string
			for _, line := range spoil {
				server.NSUpdate(t, "update "+line)
				repair = append(repair, "del"+line[len("add"):])
			}
			s.work(t)
			b := s.reaches(t, zone, gnomonv1.BatchStatus_MANUAL_REVIEW)
			require.Equal(t, want, foundIn(b.GetStatus().GetProblems()))
			require.EqualValues(t, 6, b.GetStatus().GetCompleteChanges())
			require.Zero(t, b.GetStatus().GetFailedChanges())

			// The journal has each change at its place, and the other client's between.
			journal := []string{}
			for i, step := range steps {
				if i == 6 && at == asked || i == 7 && at == answered {
					journal = slices.Concat(journal, spoil, repair)
				}
				journal = append(journal, step.journal...)
			}
			for _, line := range repair {
				server.NSUpdate(t, "update "+line)
			}
			_, err := s.client.ReviewBatch(t.Context(), &gnomonv1.ReviewBatchRequest{Id: zone, Decision: gnomonv1.ReviewBatchRequest_RETRY})
			require.NoError(t, err)
			b = s.reachesIn(t, zone, 2, gnomonv1.BatchStatus_COMPLETE)
			require.EqualValues(t, 10, b.GetStatus().GetCompleteChanges())
			require.Equal(t, journal, server.Journal(t, zone))
			require.EqualValues(t, 1+len(steps)+2*len(spoil), server.Serial(t, zone))
		})
	}
}
