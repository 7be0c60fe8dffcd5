package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// Cluster is the orchestration of one cluster (seed 002): it alone talks to the agents,
// in cycles of which there are never two at a time. It does not end.
func (w *Workflows) Cluster(ctx workflow.Context, in *workflowv1.ClusterState) error {
	c := &clusterRun{state: in, options: w.options, log: workflow.GetLogger(ctx), ctx: ctx}
	requireKnown("cluster", in.GetVersion())
	if in.GetIncarnation() == nil {
		in.Incarnation = timestamppb.New(workflow.GetInfo(ctx).WorkflowStartTime)
	}
	if err := c.handle(); err != nil {
		return err
	}
	return c.run()
}

// requireKnown has the task fail, until a newer worker takes it, where a run has rules
// that this worker does not know; the run goes on unharmed.
func requireKnown(what string, version uint32) {
	if version > playbook.Version {
		panic(fmt.Sprintf("workflows: the %s has rules of version %d and this worker knows them up to %d", what, version, playbook.Version))
	}
}

// clusterRun is one run of the workflow. All its methods run in workflow coroutines, one
// at a time; those of a cycle give way where they wait for an agent, and look at the
// state anew after that.
type clusterRun struct {
	state   *workflowv1.ClusterState
	options Options
	log     log.Logger
	ctx     workflow.Context

	changed bool // something changed the state since the main loop looked
	telling int  // signals on their way to playbooks

	timer      workflow.Future
	timerUntil time.Time
	stopTimer  workflow.CancelFunc

	mirror    workflow.Future
	mirroring []*workflowv1.NodeActionRow
}

func (c *clusterRun) run() error {
	for {
		c.changed = false
		if ready(c.timer) {
			c.timer = nil // it must not wake a run for ever that leaves and arms none
		}
		c.drain()
		c.settings()
		// Before a cycle: where there is always news, one follows the other.
		leaving := c.leaving()
		if leaving && c.idle() {
			return workflow.NewContinueAsNewError(binary(c.ctx), workflowv1.ClusterWorkflow, c.state)
		}
		now := workflow.Now(c.ctx)
		if next := playbook.NextCycle(c.state, now); next.Equal(now) && !leaving {
			c.cycle()
		}
		c.keepMirror()
		workflow.SetCurrentDetails(c.ctx, clusterDetails(c.state))
		if !leaving {
			c.arm()
		}
		if err := workflow.Await(c.ctx, c.woken); err != nil {
			return err
		}
	}
}

func (c *clusterRun) woken() bool {
	return c.changed || c.waiting() || ready(c.timer) || ready(c.mirror)
}

// waiting says whether a signal has arrived.
func (c *clusterRun) waiting() bool {
	return workflow.GetSignalChannel(c.ctx, workflowv1.SignalNews).Len() > 0 ||
		workflow.GetSignalChannel(c.ctx, workflowv1.CommandCluster).Len() > 0
}

// leaving says whether the run is to go on as a new one. Rows that are not stored yet are
// carried, as a store that is down must not keep the history growing; but not more of them
// than Temporal takes.
func (c *clusterRun) leaving() bool {
	return workflow.GetInfo(c.ctx).GetContinueAsNewSuggested() && proto.Size(c.state) <= maxCarried
}

// maxCarried bounds what a run hands to the next, well below Temporal's 2 MiB.
const maxCarried = 3 << 19

// binary hands states over as they are measured: as JSON they may be several times larger.
func binary(ctx workflow.Context) workflow.Context {
	return workflow.WithDataConverter(ctx, converter.NewCompositeDataConverter(
		converter.NewNilPayloadConverter(), converter.NewProtoPayloadConverter()))
}

func (c *clusterRun) idle() bool {
	return c.telling == 0 && !c.waiting() && workflow.AllHandlersFinished(c.ctx)
}

// arm sleeps until the next cycle.
func (c *clusterRun) arm() {
	now := workflow.Now(c.ctx)
	next := playbook.NextCycle(c.state, now)
	if next.Equal(now) {
		c.changed = true
		return
	}
	if c.timer != nil {
		if c.timerUntil.Equal(next) {
			return
		}
		c.stopTimer()
	}
	c.timer = nil
	if next.IsZero() {
		return
	}
	var ctx workflow.Context
	ctx, c.stopTimer = workflow.WithCancel(c.ctx)
	c.timer = workflow.NewTimerWithOptions(ctx, next.Sub(now), workflow.TimerOptions{Summary: "next cycle"})
	c.timerUntil = next
}

// settings takes what the worker's installation sets; a change of that is recorded, so
// that workers may differ.
func (c *clusterRun) settings() {
	set := workflow.MutableSideEffect(c.ctx, "settings", func(workflow.Context) any { return c.options.Clusters },
		func(a, b any) bool {
			x, ok := a.(*workflowv1.ClusterSettings)
			y, okToo := b.(*workflowv1.ClusterSettings)
			return ok && okToo && proto.Equal(x, y)
		})
	taken := &workflowv1.ClusterSettings{}
	if err := set.Get(taken); err == nil {
		c.state.Settings = taken
	}
}

// drain applies the signals that have arrived. One that does not fit is dropped.
func (c *clusterRun) drain() {
	news := workflow.GetSignalChannel(c.ctx, workflowv1.SignalNews)
	for news.Len() > 0 {
		var n workflowv1.News
		if news.ReceiveAsync(&n) && len(playbook.ValidateNode(n.GetNode())) == 0 {
			if _, err := playbook.Register(c.state, n.GetNode()); err != nil {
				c.log.Warn("A node was not registered.", "node", n.GetNode().GetName(), "reason", err.Error())
			}
		}
	}
	commands := workflow.GetSignalChannel(c.ctx, workflowv1.CommandCluster)
	for commands.Len() > 0 {
		var command workflowv1.ClusterCommand
		if !commands.ReceiveAsync(&command) {
			continue
		}
		if _, err := c.apply(&command); err != nil {
			c.log.Info("A command did not fit and was dropped.", "reason", err.Error())
		}
	}
}

// apply applies one command.
func (c *clusterRun) apply(command *workflowv1.ClusterCommand) (*workflowv1.ClusterResult, error) {
	r, changed, err := playbook.Apply(c.state, command, workflow.Now(c.ctx))
	if err != nil {
		return nil, err
	}
	c.changed = true
	c.note(changed)
	c.nameRequest(changed, command.GetSchedule())
	if r.GetAction() != nil {
		r.Action = proto.CloneOf(r.GetAction())
		r.Incarnation, r.Sequence = c.state.GetIncarnation(), c.state.GetSequence()
	}
	return r, nil
}

// note takes that actions changed: their rows are owed to the store, and their playbooks
// are told.
func (c *clusterRun) note(changed []*gnomonv1.NodeAction) {
	for _, a := range changed {
		c.state.Sequence++
		row := &workflowv1.NodeActionRow{Action: proto.CloneOf(a), Sequence: c.state.GetSequence()}
		c.state.Owed = slices.DeleteFunc(c.state.GetOwed(), func(r *workflowv1.NodeActionRow) bool {
			if r.GetAction().GetId() != a.GetId() {
				return false
			}
			row.RequestId, row.Digest = r.GetRequestId(), r.GetDigest()
			return true
		})
		c.state.Owed = append(c.state.GetOwed(), row)
	}
	playbook.Settle(c.state, changed)
	c.inform(playbook.Tell(changed))
}

// nameRequest has the first rows of actions name the request they were asked for by.
func (c *clusterRun) nameRequest(changed []*gnomonv1.NodeAction, asked *workflowv1.ClusterCommand_Schedule) {
	if asked.GetRequestId() == "" {
		return
	}
	for _, a := range changed {
		for _, row := range c.state.GetOwed() {
			if row.GetAction().GetId() == a.GetId() {
				row.RequestId, row.Digest = asked.GetRequestId(), asked.GetDigest()
			}
		}
	}
}

// mirrorBytes bounds the rows that one activity stores: Temporal takes no payload above
// 2 MiB, and what is not printable takes six times as much in JSON.
const mirrorBytes = 256 << 10

// nextRows are the rows that the next activity stores, the oldest first.
func (c *clusterRun) nextRows() []*workflowv1.NodeActionRow {
	size := 0
	for i, row := range c.state.GetOwed() {
		if size += proto.Size(row); i > 0 && size > mirrorBytes {
			return slices.Clone(c.state.GetOwed()[:i])
		}
	}
	return slices.Clone(c.state.GetOwed())
}

// keepMirror stores what is owed, one activity at a time.
func (c *clusterRun) keepMirror() {
	if ready(c.mirror) {
		if err := c.mirror.Get(c.ctx, nil); err == nil {
			c.state.Owed = slices.DeleteFunc(c.state.GetOwed(), func(r *workflowv1.NodeActionRow) bool {
				return slices.ContainsFunc(c.mirroring, func(m *workflowv1.NodeActionRow) bool {
					return m.GetAction().GetId() == r.GetAction().GetId() && m.GetSequence() == r.GetSequence()
				})
			})
		}
		c.mirror, c.mirroring = nil, nil
	}
	if c.mirror != nil || len(c.state.GetOwed()) == 0 {
		return
	}
	c.mirroring = c.nextRows()
	ctx := workflow.WithActivityOptions(c.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Summary:             "rows of node actions",
	})
	c.mirror = workflow.ExecuteActivity(ctx, workflowv1.MirrorNodesActivity, &workflowv1.MirrorNodesInput{
		Cluster: c.state.GetCluster(), Incarnation: c.state.GetIncarnation(), Rows: c.mirroring,
	})
}

// inform tells playbooks how their actions stand. A signal that is lost does no harm:
// every cycle tells again what they may not have heard, until one has ended.
func (c *clusterRun) inform(all []playbook.Told) {
	for _, one := range all {
		told := workflow.SignalExternalWorkflow(c.ctx, workflowv1.PlaybookWorkflowID(one.Playbook), "", workflowv1.SignalProgress, one.Progress)
		c.telling++
		workflow.Go(c.ctx, func(ctx workflow.Context) {
			err := told.Get(ctx, nil)
			c.telling--
			if err != nil {
				playbook.Forget(c.state, one.Playbook)
			}
			c.changed = c.changed || err != nil || c.telling == 0
		})
	}
}
