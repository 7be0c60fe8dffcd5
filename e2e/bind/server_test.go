package bind

import (
	"sync"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
)

// V-11, V-12: the name server is killed -9 in the middle of a batch of ten, before it has
// a change and after it has done another, and its answers are lost. That rejects nothing:
// the batch goes on when the server is back, and no change is applied twice.
func TestNameServerIsKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a quarter of a minute")
	}
	const zone = "killed.test"
	server := bindtest.Start(t, bindtest.Options{Zones: map[string]string{zone: standing}})
	s, steps := open(t, server, zone), ten(t, zone)
	s.work(t)
	dead := make(chan struct{})
	var first, second sync.Once
	strike := func(once *sync.Once) bool {
		on := true
		once.Do(func() {
			on = false
			server.Kill()
			dead <- struct{}{}
		})
		return on
	}
	s.proxy.Watch(bindtest.Watch{
		Asked:    func(m *dns.Msg) bool { return indexOf(steps, m) != 3 || strike(&first) },
		Answered: func(m, _ *dns.Msg) bool { return indexOf(steps, m) != 6 || strike(&second) },
	})
	s.submit(t, zone, soon(), changesOf(steps)...)
	for range 2 {
		<-dead
		s.failed(t, zone, "does not answer", "cannot be reached")
		server.Start(t)
	}
	b := s.reaches(t, zone, gnomonv1.BatchStatus_COMPLETE)
	judge(t, server, zone, steps, b)
	require.Greater(t, b.GetChanges()[3].GetStatus().GetAttempts(), uint32(1))
	require.Greater(t, b.GetChanges()[6].GetStatus().GetAttempts(), uint32(1))
}
