package cli

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Where there is no terminal, each change is a line with the nodes that moved.
func TestPlaybookWatchPrintsALineForEachChange(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.playbooks.changes <- upgrade(t, playbookRunning)
	first := upgrade(t, playbookRunning, runs, waits)
	first.Status.Stages[1].Waiting = 3
	fake.playbooks.changes <- first
	fake.playbooks.changes <- upgrade(t, playbookRunning, done, runs)
	fake.playbooks.changes <- upgrade(t, gnomonv1.PlaybookStatus_DONE, done, done)
	got := fake.run(t, "playbook", "watch", "upgrade-7").ok(t)
	require.Equal(t, `2026-11-20T10:00:00Z RUNNING
2026-11-20T10:00:00Z RUNNING stage=2/3:upgrade done/bad/running/left=0/0/1/4 node-1=DONE node-1=RUNNING node-2=PENDING_SCHEDULE
2026-11-20T10:00:00Z RUNNING stage=2/3:upgrade done/bad/running/left=1/0/1/0 node-1=DONE node-2=RUNNING
2026-11-20T10:00:00Z DONE stage=3/3:check done/bad/running/left=0/0/0/0 node-2=DONE
`, got.stdout)
	require.Empty(t, got.stderr)
}

// an end that is not DONE has an exit code of its own, and says on which nodes.
func TestPlaybookWatchShowsWhatFailed(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	failed := upgrade(t, gnomonv1.PlaybookStatus_FAILED, done, failedOn, gnomonv1.NodeAction_LOST)
	fake.playbooks.changes <- failed
	got := fake.run(t, "playbook", "run", writeFile(t, "upgrade.yaml", upgradeYAML), "--watch")
	require.Equal(t, ExitOutcome, got.code)
	require.Contains(t, got.stdout, "began upgrade-7: RUNNING, 3 stages on prod\n")
	require.Contains(t, got.stdout, `STAGE    NODE    STATE   ACTION
upgrade  node-2  FAILED  upgrade-7.1.node-2
upgrade  node-3  LOST    upgrade-7.1.node-3
`)
	require.Equal(t, "error: playbook upgrade-7 is FAILED; stage upgrade had more failures than are allowed\n", got.stderr)

	fake = startFake(t) // a watch that is over may still take what is sent
	fake.playbooks.changes <- failed
	got = fake.run(t, "playbook", "run", writeFile(t, "upgrade.yaml", upgradeYAML), "--watch", "-o", "json")
	require.Equal(t, ExitOutcome, got.code)
	requireProto(t, failed, parse(t, &gnomonv1.Playbook{}, got.stdout))

	fake = startFake(t)
	close(fake.playbooks.changes)
	got = fake.run(t, "playbook", "watch", "upgrade-7")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "the server ended the watch before the playbook ended")
}

// A terminal shows stages and their nodes as they move, each picture in the place of the
// one before.
func TestPlaybookWatchDrawsOnATerminal(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	active := upgrade(t, playbookRunning, done, failedOn, runs, waits)
	active.Status.Stages[1].Waiting = 1
	fake.playbooks.changes <- active
	fake.playbooks.changes <- upgrade(t, gnomonv1.PlaybookStatus_DONE, done, failedOn, done, done, done)
	got := invocation{address: fake.address, width: 100, height: 30}.run(t.Context(), "playbook", "watch", "upgrade-7", "--no-color").ok(t)
	frames := strings.Split(got.stdout, "\x1b[J")
	require.Len(t, frames, 2)
	require.Equal(t, `upgrade-7  RUNNING  on prod, began 12s ago
  drain    SUCCEEDED     ████████████████████  1/1
  upgrade  ACTIVE        ████▓▓▓▓░░░░░░░░░░░░  2/5, 1 not done
    ✓ node-1  ✗ node-2  ▶ node-3  ○ node-4
  check    WAITING
? wants approval  ○ waits  ◔ on the node  ▶ runs  ✓ done  – cancelled  ✗ failed or lost
`, strings.TrimSuffix(frames[0], "\x1b[6A"))
	require.Contains(t, frames[1], "upgrade-7  DONE  on prod, ended now\n")
	require.Contains(t, frames[1], "upgrade  SUCCEEDED     ████████████████▓▓▓▓  5/5, 1 not done\n")
	require.NotContains(t, frames[1], "✓ node-1", "what has ended well needs no nodes")

	fake = startFake(t)
	colours := invocation{address: fake.address, width: 200, height: 30}
	fake.playbooks.changes <- upgrade(t, gnomonv1.PlaybookStatus_DONE, done)
	require.Contains(t, colours.run(t.Context(), "playbook", "watch", "upgrade-7").ok(t).stdout, "\x1b[32mDONE\x1b[m")
}

// However many nodes there are, all stages stay in sight.
func TestPlaybookDrawingFitsTheTerminal(t *testing.T) {
	t.Parallel()
	many := make([]gnomonv1.NodeAction_State, 200)
	for i := range many {
		many[i] = runs
	}
	one := upgrade(t, playbookRunning, many...)
	for _, height := range []int{6, 7, 10, 20} {
		p := &printer{width: 40, moment: moment{now: testNow.UTC}}
		lines := strings.Split(p.drawPlaybook(one, height), "\n")
		require.LessOrEqual(t, len(lines), height)
		text := strings.Join(lines, "\n")
		require.Contains(t, text, "  check    WAITING")
		if room := height - 5; room > 0 {
			require.Contains(t, text, "… and "+strconv.Itoa(200-(room-1)*3)+" more")
		}
		for _, line := range lines {
			require.LessOrEqual(t, len([]rune(line)), 40, line)
		}
	}
	whole := (&printer{width: 40, moment: moment{now: testNow.UTC}}).drawPlaybook(one, 0)
	require.Equal(t, 200, strings.Count(whole, "▶ node-"))
}
