package bind

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/changes/dnsrecord/bindtest"
	"gnomon/faults/roles"
	"gnomon/store/faulty"
)

// V-11, V-12: the store fails in the middle of a batch of ten, for a while, or does what
// it is told and its answer is lost. The batch resumes: BIND's journal has each change
// once, and each is recorded.
func TestStoreFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	cases := map[string]struct {
		// at is the change with whose update the store begins to fail.
		at     int
		faults faulty.Faults
	}{
		"down":                 {4, faulty.Faults{Fail: 1}},
		"recorded unanswered":  {4, faulty.Faults{LoseReply: 1, Only: []faulty.Method{faulty.RecordChange}}},
		"begun unanswered":     {4, faulty.Faults{LoseReply: 1, Only: []faulty.Method{faulty.BeginChange}}},
		"not ended":            {9, faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutBatch}}},
		"ended unanswered":     {9, faulty.Faults{LoseReply: 1, Only: []faulty.Method{faulty.PutBatch}}},
		"not recorded at last": {9, faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.RecordChange}}},
	}
	zones := map[string]string{}
	for name := range cases {
		zones[zoneOf(name)] = standing
	}
	server := bindtest.Start(t, bindtest.Options{Zones: zones})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := zoneOf(name)
			s, steps := open(t, server, zone), ten(t, zone)
			w := s.faultyWork(t)
			var done [10]atomic.Int32
			var broken atomic.Bool
			ordered := make(chan error, 1)
			s.proxy.Watch(bindtest.Watch{
				Asked: func(m *dns.Msg) bool {
					if indexOf(steps, m) == c.at && broken.CompareAndSwap(false, true) {
						order := roles.Order{Number: 1, Store: &c.faults}
						err := w.Tell(order)
						if err == nil {
							_, err = w.Out(t.Context(), order.Answer())
						}
						ordered <- err
					}
					return true
				},
				Answered: func(m, answer *dns.Msg) bool {
					if answer.Rcode == dns.RcodeSuccess {
						done[indexOf(steps, m)].Add(1)
					}
					return true
				},
			})
			s.submit(t, zone, soon(), changesOf(steps)...)
			require.NoError(t, <-ordered)
			s.failed(t, zone, faulty.ErrInjected.Error())
			well := roles.Order{Number: 2, Store: &faulty.Faults{}}
			require.NoError(t, w.Tell(well))
			b := s.reaches(t, zone, gnomonv1.BatchStatus_COMPLETE)
			judge(t, server, zone, steps, b)
			for i := range done {
				require.EqualValues(t, 1, done[i].Load(), "updates of change %d that BIND did", i)
			}
		})
	}
}

func zoneOf(name string) string { return strings.ReplaceAll(name, " ", "-") + ".test" }

// failed waits until an attempt to process a batch has failed for any of some reasons, as
// Temporal shows it.
func (s *site) failed(t *testing.T, id string, reasons ...string) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: temporal.Address()})
	require.NoError(t, err)
	defer c.Close()
	require.Eventually(t, func() bool {
		d, err := c.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
		if err != nil {
			return false
		}
		for _, a := range d.GetPendingActivities() {
			for _, reason := range reasons {
				if strings.Contains(a.GetLastFailure().GetMessage(), reason) {
					return true
				}
			}
		}
		return false
	}, within, 20*time.Millisecond)
}
