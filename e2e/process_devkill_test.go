package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/receiver"
)

const (
	// devPeriod is that of the periodic actions, all on one grid.
	devPeriod = 3 * time.Second
	// devDelay is that of the retrying actions, long enough for a restart.
	devDelay = 10 * time.Second
	// devHeartbeat is gnomon-dev's heartbeat timeout.
	devHeartbeat = 10 * time.Second
	// calmFor is how far away the next thing to happen is before a kill.
	calmFor = 1200 * time.Millisecond
	// devLate is how late what was due while it served, or as it came back, may be.
	devLate = 2 * time.Second
)

// outage is a kill -9 and the start after it.
type outage struct{ killed, ready time.Time }

// devRun is gnomon-dev on one directory, through its kills.
type devRun struct {
	process *process
	client  gnomonv1.ActionServiceClient
	inbox   inbox
	dir     string
	outages []outage

	waiting, missed, held, retrying, periodic []string
}

// Issue 2, 'It is done when'; M-26, M-27, M-29, M-38, M-59: gnomon-dev is killed -9
// twice while some thirty actions wait and run. Nothing is lost, nothing early, what
// fell due meanwhile is performed once, and every counter is right.
func TestProcessDevKilled(t *testing.T) {
	t.Parallel()
	d := &devRun{inbox: receive(t), dir: t.TempDir()}
	d.start(t)
	origin := time.Now().Add(time.Second)
	for n := range 4 {
		d.periodic = append(d.periodic, fmt.Sprint("periodic-", n))
		create(t, d.client, every(d.inbox.once(d.periodic[n], "/ok", origin), devPeriod))
	}
	for n := range 5 {
		d.retrying = append(d.retrying, fmt.Sprint("retrying-", n))
		create(t, d.client, steadily(d.inbox.once(d.retrying[n], "/fail-first/2", origin), 4, devDelay))
	}
	for n := range 6 {
		// Some fall due between the kills, some after both.
		d.waiting = append(d.waiting, fmt.Sprint("waiting-", n))
		create(t, d.client, d.inbox.once(d.waiting[n], "/ok", origin.Add(time.Duration(12+7*n)*time.Second)))
	}

	for round := range 2 {
		d.hold(t, round)
		d.calm(t)
		d.down(t, round)
		d.start(t)
		d.heldAgain(t, round)
	}
	d.finish(t)
}

// start starts gnomon-dev on its directory and notes the end of an outage.
func (d *devRun) start(t *testing.T) {
	t.Helper()
	p, at := runDev(t, "--data-dir", d.dir)
	if n := len(d.outages); n > 0 {
		d.outages[n-1].ready = time.Now()
		t.Logf("outage %d: down for %s", n, d.outages[n-1].ready.Sub(d.outages[n-1].killed).Round(time.Millisecond))
	}
	d.process, d.client = p, connect(t, at.GRPC)
}

// hold has attempts running that the receiver does not answer.
func (d *devRun) hold(t *testing.T, round int) {
	t.Helper()
	for n := range 3 {
		id := fmt.Sprint("held-", round, "-", n)
		create(t, d.client, steadily(d.inbox.once(id, "/block/"+id, time.Now()), 2, time.Second))
		d.inbox.nth(t, id, 1, 20*time.Second)
		d.held = append(d.held, id)
	}
}

// calm waits until nothing happens and nothing is near, but for attempts that are
// held: so it is known what a kill interrupts.
func (d *devRun) calm(t *testing.T) {
	t.Helper()
	eventually(t, 60*time.Second, "a calm moment", func() bool {
		for _, id := range slices.Concat(d.waiting, d.missed, d.retrying, d.periodic) {
			a, err := d.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
			st := a.GetStatus()
			if err != nil || st.GetCurrentAttemptStatus() != nil || st.GetState() == gnomonv1.Status_RUNNING {
				return false
			}
			if st.GetScheduledAt() != nil && time.Until(st.GetScheduledAt().AsTime()) < calmFor {
				return false
			}
			if made := counted(st); int(made.ok+made.failed) != len(d.inbox.of(id)) {
				return false
			}
		}
		return true
	})
}

// down kills gnomon-dev just before some actions fall due, and stays down until
// they and a few ticks have.
func (d *devRun) down(t *testing.T, round int) {
	t.Helper()
	due := time.Now().Add(2 * time.Second)
	for n := range 5 {
		id := fmt.Sprint("missed-", round, "-", n)
		d.missed = append(d.missed, id)
		create(t, d.client, d.inbox.once(id, "/ok", due))
	}
	killed := d.process.kill(t)
	require.Less(t, killed, due)
	d.outages = append(d.outages, outage{killed: killed})
	for _, id := range d.missed[5*round:] {
		require.Empty(t, d.inbox.of(id), "%s is early", id)
	}
	passes(t, killed.Add(2*devPeriod+time.Second/2))
}

// heldAgain holds that what ran is attempted again under its key, and lets it end.
func (d *devRun) heldAgain(t *testing.T, round int) {
	t.Helper()
	o := d.outages[round]
	for _, id := range d.held[3*round:] {
		a := d.inbox.nth(t, id, 2, devHeartbeat+30*time.Second)
		require.Equal(t, d.inbox.of(id)[0].IdempotencyKey, a.IdempotencyKey)
		require.EqualValues(t, 2, a.Attempt)
		limit := o.killed.Add(devHeartbeat + time.Second + f1Slack)
		if o.ready.After(limit) {
			limit = o.ready
		}
		require.Less(t, a.Time, limit.Add(devLate), "%s: F1", id)
		t.Logf("%s: attempted again %s after the kill, %s after the restart", id,
			a.Time.Sub(o.killed).Round(time.Millisecond), a.Time.Sub(o.ready).Round(time.Millisecond))
	}
	d.inbox.Release()
	for _, id := range d.held[3*round:] {
		ends(t, d.client, id, gnomonv1.Status_SUCCEEDED, counts{ok: 1, interrupted: 1})
	}
}

// finish awaits the end of all and holds what must be true of each.
func (d *devRun) finish(t *testing.T) {
	t.Helper()
	var worst time.Duration
	for _, id := range append(d.waiting, d.missed...) {
		a := d.inbox.nth(t, id, 1, 90*time.Second)
		worst = max(worst, d.punctual(t, a, a.ScheduledAt))
		ends(t, d.client, id, gnomonv1.Status_SUCCEEDED, counts{ok: 1})
	}
	for _, id := range d.retrying {
		d.inbox.nth(t, id, 3, 90*time.Second)
		all := d.inbox.of(id)
		for n, a := range all {
			due := a.ScheduledAt
			if n > 0 {
				due = all[n-1].Time.Add(devDelay)
			}
			worst = max(worst, d.punctual(t, a, due))
			require.EqualValues(t, n+1, a.Attempt)
			require.Equal(t, all[0].IdempotencyKey, a.IdempotencyKey)
		}
		ends(t, d.client, id, gnomonv1.Status_SUCCEEDED, counts{ok: 1, failed: 2})
	}
	d.calm(t)
	for _, id := range d.periodic {
		d.onGrid(t, id)
	}
	for _, id := range slices.Concat(d.waiting, d.missed) {
		require.Len(t, d.inbox.of(id), 1, "%s is performed once", id)
	}
	for _, id := range d.held {
		require.Len(t, d.inbox.of(id), 2, "%s is attempted twice", id)
	}
	for _, id := range d.retrying {
		require.Len(t, d.inbox.of(id), 3, "%s is attempted three times", id)
	}
	t.Logf("%d actions, %d kills: lost 0, early 0, doubled 0; the latest came %s late",
		len(slices.Concat(d.waiting, d.missed, d.held, d.retrying, d.periodic)), len(d.outages), worst.Round(time.Millisecond))
}

// punctual holds that an arrival was not early, nor later than its due time or the
// end of the outage that it fell in explains.
func (d *devRun) punctual(t *testing.T, a receiver.Arrival, due time.Time) time.Duration {
	t.Helper()
	require.False(t, a.Time.Before(due), "%s came %s early", a.ActionID, due.Sub(a.Time))
	possible := due
	for _, o := range d.outages {
		if due.After(o.killed) && due.Before(o.ready) {
			possible = o.ready
			if again := o.killed.Add(workflowv1.TaskTimeout); slices.Contains(d.missed, a.ActionID) && again.After(possible) {
				possible = again
			}
		}
	}
	late := a.Time.Sub(possible)
	require.Less(t, late, devLate, "%s", a.ActionID)
	return late
}

// onGrid holds M-29: each tick on the grid at most once, all that were missed in an
// outage by one, all others performed, and counters that say so.
func (d *devRun) onGrid(t *testing.T, id string) {
	t.Helper()
	all := d.inbox.of(id)
	for n, a := range all {
		d.punctual(t, a, a.ScheduledAt)
		require.EqualValues(t, 1, a.Attempt)
		require.Zero(t, a.ScheduledAt.Sub(all[0].ScheduledAt)%devPeriod, "%s: a tick beside the grid", id)
		if n == 0 {
			continue
		}
		previous := all[n-1].ScheduledAt
		skipped := int(a.ScheduledAt.Sub(previous)/devPeriod) - 1
		require.GreaterOrEqual(t, skipped, 0, "%s: a tick came twice", id)
		if skipped > 0 {
			// The tick before is the one that stood for those that were missed.
			require.Equal(t, 1, d.lateIn(previous), "%s: ticks after %s are lost", id, previous)
		}
	}
	for n, o := range d.outages {
		inside := 0
		for _, a := range all {
			if a.ScheduledAt.After(o.killed) && a.ScheduledAt.Before(o.ready) {
				inside++
			}
		}
		require.Equal(t, 1, inside, "%s: one for all that outage %d missed", id, n+1)
	}
	st := row(t, d.client, id).GetStatus()
	require.Equal(t, counts{ok: uint64(len(all))}, counted(st), id)
}

// lateIn is in how many outages a tick fell.
func (d *devRun) lateIn(tick time.Time) int {
	n := 0
	for _, o := range d.outages {
		if tick.After(o.killed) && tick.Before(o.ready) {
			n++
		}
	}
	return n
}
