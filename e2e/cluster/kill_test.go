//go:build linux

package cluster

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/processes"
	"gnomon/store/sqlite"
)

// killed is a site whose agents and worker are processes.
type killed struct {
	*site

	dir    string
	nodes  []string
	agents map[string]*processes.Process
	worker *processes.Process
	// ids are the playbooks that were begun, the last one may be under way.
	ids []string
}

func (k *killed) start(t *testing.T, role string, says string, args ...string) *processes.Process {
	t.Helper()
	p, err := processes.Start(t.TempDir(), role, append(args,
		"--temporal-address", temporal.Address(), "--task-queue", k.queue, "--metrics-address", "", "--log-format", "text")...)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the end of what %s, process %d, wrote:\n%s", role, p.PID(), p.Tail())
		}
	})
	_, err = p.Err(t.Context(), says)
	require.NoError(t, err)
	return p
}

func (k *killed) startWorker(t *testing.T) {
	t.Helper()
	k.worker = k.start(t, roleWorker, "The worker polls.", "--store", "sqlite:"+filepath.Join(k.dir, "gnomon.db"), "--pollers", "2",
		"--isolate-performers=false", "--reconcile-interval", "0s", "--cluster-interval", "500ms", "--node-timeout", "3s")
}

func (k *killed) startAgent(t *testing.T, node string) {
	t.Helper()
	k.agents[node] = k.start(t, roleAgent, "The agent runs.", "--cluster", k.cluster, "--node", node,
		"--data-dir", filepath.Join(k.dir, node), "--allow-exec", "/bin/sh -c **")
}

// entry is a line that an action wrote into its node's file.
type entry struct {
	what, id string
	at       int64
}

// log are the lines of a node, in order.
func (k *killed) log(t require.TestingT, node string) []entry {
	text, err := os.ReadFile(filepath.Join(k.dir, node+".log"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	var all []entry
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if !strings.HasSuffix(line, "\n") || len(words) != 3 {
			break // it is being written
		}
		at, err := strconv.ParseInt(words[2], 10, 64)
		require.NoError(t, err)
		all = append(all, entry{words[0], words[1], at})
	}
	return all
}

// begin begins a playbook of three stages that change files.
func (k *killed) begin(t *testing.T) {
	t.Helper()
	file := filepath.Join(k.dir, "$${NODE}.log")
	line := "echo begin $$ID $$(date +%s%N) >>" + file + "; sleep 0.3; echo end $$ID $$(date +%s%N) >>" + file
	stage := func(name string, parallel uint32) *gnomonv1.PlaybookStage {
		return &gnomonv1.PlaybookStage{
			Name: name, AllNodes: true, Parallel: parallel, OnFailure: gnomonv1.PlaybookStage_CONTINUE,
			Action: &gnomonv1.PlaybookStage_Exec{Exec: exec("NODE=${node} ID=${playbook}/${stage}/${node}; " + line)},
		}
	}
	p := k.play(t, strconv.Itoa(len(k.ids)), nil, stage("0", 0), stage("1", 2), stage("2", 0))
	k.ids = append(k.ids, p.GetId())
}

// runs waits until an action runs on a node; playbooks follow each other.
func (k *killed) runs(t *testing.T, node string) {
	t.Helper()
	require.Eventually(t, func() bool {
		last, err := k.playbooks.GetPlaybook(t.Context(), &gnomonv1.GetPlaybookRequest{Id: k.ids[len(k.ids)-1]})
		require.NoError(t, err)
		if last.GetStatus().GetFinishTime() != nil {
			k.begin(t)
		}
		log := k.log(t, node)
		return len(log) > 0 && log[len(log)-1].what == "begin" && time.Since(time.Unix(0, log[len(log)-1].at)) < 300*time.Millisecond
	}, within, 2*time.Millisecond)
}

// Issue 6: agents and the worker are killed with -9 and stopped in the middle of actions:
// no action runs twice, none is forgotten, one at a time on each node, stages
// apart, how many at a time respected, by the files' own times.
func TestKills(t *testing.T) {
	t.Parallel()
	kills, nodes := 8, 3
	if n, err := strconv.Atoi(os.Getenv("GNOMON_TEST_KILLS")); err == nil {
		kills, nodes = n, 10
	}
	dir := t.TempDir()
	k := &killed{dir: dir, agents: map[string]*processes.Process{}, site: openFacade(t, temporal.Address(), sqlite.Config{Path: filepath.Join(dir, "gnomon.db"), Migrate: true})}
	k.startWorker(t)
	for i := range nodes {
		k.nodes = append(k.nodes, fmt.Sprintf("n%d", i))
		k.startAgent(t, k.nodes[i])
	}
	k.health(t, gnomonv1.Node_UP, k.nodes...)
	k.begin(t)
	for i := range kills {
		node := k.nodes[i%nodes]
		k.runs(t, node)
		switch i % 4 {
		case 0:
			k.agents[node].Kill()
			k.startAgent(t, node)
		case 1:
			require.NoError(t, k.agents[node].Freeze(t.Context()))
			k.health(t, gnomonv1.Node_UNREACHABLE, node)
			k.agents[node].Thaw()
		case 2:
			k.worker.Kill()
			k.startWorker(t)
		case 3:
			require.NoError(t, k.worker.Freeze(t.Context()))
			k.ended(t, node)
			k.worker.Thaw()
		}
	}
	k.ends(t, k.ids[len(k.ids)-1])
	k.judge(t)
	k.replays(t)
}

// ended waits until the action that runs on a node has ended, by the node's own file: an
// agent needs no worker for that.
func (k *killed) ended(t *testing.T, node string) {
	t.Helper()
	require.Eventually(t, func() bool {
		log := k.log(t, node)
		return log[len(log)-1].what == "end"
	}, within, 2*time.Millisecond)
}

// judge holds what the files and the records say against each other.
func (k *killed) judge(t *testing.T) {
	t.Helper()
	began, ended := map[string]int64{}, map[string]int64{}
	for _, node := range k.nodes {
		current := ""
		for _, e := range k.log(t, node) {
			if e.what == "begin" {
				require.Zero(t, began[e.id], "%s ran twice", e.id)
				began[e.id], current = e.at, e.id
				continue
			}
			require.Equal(t, current, e.id, "another action began on %s before this one had ended or was stopped", node)
			ended[e.id] = e.at
		}
	}
	counts := map[gnomonv1.NodeAction_State]int{}
	for _, id := range k.ids {
		p, err := k.playbooks.GetPlaybook(t.Context(), &gnomonv1.GetPlaybookRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, gnomonv1.PlaybookStatus_DONE, p.GetStatus().GetState(), p.GetStatus())
		var before int64
		for i, stage := range p.GetStatus().GetStages() {
			require.Len(t, stage.GetActions(), len(k.nodes), "none is forgotten")
			var last int64
			var running []entry
			for _, a := range stage.GetActions() {
				counts[a.GetState()]++
				name := id + "/" + stage.GetName() + "/" + a.GetNode()
				switch a.GetState() {
				case gnomonv1.NodeAction_DONE:
					require.NotZero(t, began[name], name)
					require.NotZero(t, ended[name], name)
					running = append(running, entry{"begin", name, began[name]}, entry{"end", name, ended[name]})
				case gnomonv1.NodeAction_CANCELLED: // interrupted
				default:
					require.Fail(t, "an action ended wrongly", "%s is %s", name, a.GetState())
				}
				if began[name] != 0 {
					require.Greater(t, began[name], before, "%s began before the stage before it had finished", name)
				}
				last = max(last, began[name], ended[name])
			}
			before = last
			if i == 1 {
				require.LessOrEqual(t, atOnceOf(running), 2, "stage 1 of %s has too many at a time", id)
			}
		}
	}
	t.Logf("%d playbooks: %v", len(k.ids), counts)
}

// atOnceOf is how many ran at the same time at most.
func atOnceOf(all []entry) int {
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	now, most := 0, 0
	for _, e := range all {
		if e.what == "end" {
			now--
			continue
		}
		now++
		most = max(most, now)
	}
	return most
}
