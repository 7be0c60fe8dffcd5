package workflows

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// Playbook is one run of a playbook (seed 002). It moves by signals and never polls
// its result is the final status, whatever became of its actions.
func (w *Workflows) Playbook(ctx workflow.Context, in *workflowv1.PlaybookState) (*gnomonv1.PlaybookStatus, error) {
	lasting, _ := workflow.NewDisconnectedContext(ctx)
	p := &playbookRun{
		state: in, log: workflow.GetLogger(ctx), root: ctx, ctx: lasting,
		scheduling: map[string]bool{}, stopping: map[string]bool{},
	}
	requireKnown("playbook", in.GetVersion())
	if in.GetIncarnation() == nil {
		in.Incarnation = timestamppb.New(workflow.GetInfo(ctx).WorkflowStartTime)
		in.MirrorOwed = true
	}
	if in.GetPlaybook().GetStatus() == nil {
		// The first run is told what to do; how far it is, is its own.
		begun := playbook.Start(in.GetPlaybook(), workflow.Now(ctx))
		in.Playbook = begun.GetPlaybook()
	}
	if err := p.handle(); err != nil {
		return nil, err
	}
	return p.run()
}

// playbookRun is one run of the workflow.
type playbookRun struct {
	state     *workflowv1.PlaybookState
	log       log.Logger
	root, ctx workflow.Context

	changed   bool
	cancelled bool

	timer      workflow.Future
	timerUntil time.Time
	stopTimer  workflow.CancelFunc

	nodes   workflow.Future
	sending int // commands on their way to the cluster
	// scheduling are the ids that the cluster may not have taken yet, stopping those that it
	// was told to cancel.
	scheduling, stopping map[string]bool

	mirror    workflow.Future
	mirroring uint64
}

func (p *playbookRun) run() (*gnomonv1.PlaybookStatus, error) {
	for {
		p.changed = false
		p.drain()
		p.step()
		p.keepMirror()
		workflow.SetCurrentDetails(p.ctx, playbookDetails(p.state.GetPlaybook()))
		if p.idle() {
			if playbook.Ended(p.status().GetState()) {
				return p.status(), nil
			}
			if workflow.GetInfo(p.ctx).GetContinueAsNewSuggested() {
				return nil, workflow.NewContinueAsNewError(binary(p.ctx), workflowv1.PlaybookWorkflow, p.state)
			}
		}
		if err := workflow.Await(p.ctx, p.woken); err != nil {
			return nil, err
		}
	}
}

func (p *playbookRun) status() *gnomonv1.PlaybookStatus { return p.state.GetPlaybook().GetStatus() }

func (p *playbookRun) woken() bool {
	return p.changed || p.waiting() || p.root.Err() != nil && !p.cancelled ||
		ready(p.timer) || ready(p.nodes) || ready(p.mirror)
}

func (p *playbookRun) waiting() bool {
	return workflow.GetSignalChannel(p.ctx, workflowv1.SignalProgress).Len() > 0 ||
		workflow.GetSignalChannel(p.ctx, workflowv1.CommandPlaybook).Len() > 0
}

func (p *playbookRun) idle() bool {
	return p.mirror == nil && !p.state.GetMirrorOwed() && p.nodes == nil && p.sending == 0 &&
		!p.waiting() && workflow.AllHandlersFinished(p.ctx)
}

// drain takes the signals that have arrived.
func (p *playbookRun) drain() {
	progress := workflow.GetSignalChannel(p.ctx, workflowv1.SignalProgress)
	for progress.Len() > 0 {
		var told workflowv1.PlaybookProgress
		if progress.ReceiveAsync(&told) && playbook.Progress(p.state, &told) {
			p.touch()
		}
	}
	commands := workflow.GetSignalChannel(p.ctx, workflowv1.CommandPlaybook)
	for commands.Len() > 0 {
		var command workflowv1.PlaybookCommand
		if !commands.ReceiveAsync(&command) {
			continue
		}
		if err := p.apply(&command); err != nil {
			p.log.Info("A command did not fit and was dropped.", "reason", err.Error())
		}
	}
	if p.root.Err() != nil && !p.cancelled {
		p.cancelled = true
		if err := playbook.Cancel(p.state, "", workflow.Now(p.ctx)); err == nil {
			p.touch()
		}
	}
}

// touch notes that the status changed: its row is owed.
func (p *playbookRun) touch() {
	p.changed = true
	p.state.Sequence++
	p.state.MirrorOwed = true
	p.state.GetPlaybook().UpdateTime = timestamppb.New(workflow.Now(p.ctx))
}

// step does what the rules want.
func (p *playbookRun) step() {
	if ready(p.nodes) {
		seen := &gnomonv1.Cluster{}
		err := p.nodes.Get(p.ctx, seen)
		if err == nil && p.status().GetState() == gnomonv1.PlaybookStatus_RUNNING && !p.state.GetCancelling() {
			stage := p.state.GetPlaybook().GetStages()[p.state.GetStage()]
			playbook.StageNodes(p.state, playbook.Choose(stage, seen.GetNodes()))
		}
		p.nodes = nil
	}
	before := proto.CloneOf(p.status())
	next := playbook.Next(p.state, workflow.Now(p.ctx))
	if !proto.Equal(before, p.status()) {
		p.touch()
	}
	if next.Resolve && p.nodes == nil {
		p.resolve()
	}
	p.schedule(next.Schedule)
	p.stop(next.Cancel)
	p.arm(next.Until)
}

// scheduleBytes bounds one command. A cluster that cannot hold all of a stage's actions
// takes those that fit, and the others when these have finished.
const scheduleBytes = 64 << 10

// schedule gives the cluster actions, in as many commands as that takes.
func (p *playbookRun) schedule(all []*gnomonv1.NodeAction) {
	for len(all) > 0 {
		n, size := 1, proto.Size(all[0])
		for n < len(all) && size+proto.Size(all[n]) <= scheduleBytes {
			size += proto.Size(all[n])
			n++
		}
		some := all[:n]
		for _, a := range some {
			p.scheduling[a.GetId()] = true
		}
		p.send(fmt.Sprintf("%d actions of stage %s", n, some[0].GetStage()), &workflowv1.ClusterCommand{
			Command: &workflowv1.ClusterCommand_Schedule_{Schedule: &workflowv1.ClusterCommand_Schedule{Actions: some}},
		}, func() {
			for _, a := range some {
				delete(p.scheduling, a.GetId())
			}
		})
		all = all[n:]
	}
}

// resolve asks for the nodes of the stage, unless it names them.
func (p *playbookRun) resolve() {
	stage := p.state.GetPlaybook().GetStages()[p.state.GetStage()]
	if len(stage.GetNodes()) > 0 {
		playbook.StageNodes(p.state, playbook.Choose(stage, nil))
		p.changed = true
		return
	}
	p.nodes = workflow.ExecuteActivity(p.patient("nodes of stage "+stage.GetName()), workflowv1.ClusterNodesActivity, p.state.GetPlaybook().GetCluster())
}

// stop has the cluster cancel actions, each once: that a cancellation takes effect is up
// to the cluster's cycles. It must not come before the action.
func (p *playbookRun) stop(ids []string) {
	for _, id := range ids {
		if p.stopping[id] || p.scheduling[id] {
			continue
		}
		p.stopping[id] = true
		p.send("cancel "+id, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{
			Cancel: &workflowv1.ClusterCommand_Decision{Action: id, By: p.state.GetPlaybook().GetRequestedBy(), Reason: "its playbook ends it"},
		}}, func() {})
	}
}

// send gives a command to the cluster, for as long as that takes, and calls done then.
func (p *playbookRun) send(summary string, command *workflowv1.ClusterCommand, done func()) {
	sent := workflow.ExecuteActivity(p.patient(summary), workflowv1.ClusterCommandActivity, &workflowv1.ClusterCommandInput{
		Cluster: p.state.GetPlaybook().GetCluster(), Command: command,
	})
	p.sending++
	workflow.Go(p.ctx, func(ctx workflow.Context) {
		if err := sent.Get(ctx, nil); err != nil {
			p.log.Error("A command to the cluster was given up.", "error", err)
		}
		p.sending--
		p.changed = true
		done()
	})
}

// patient are the options of activities that must succeed in the end.
func (p *playbookRun) patient(summary string) workflow.Context {
	return workflow.WithActivityOptions(p.ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 30 * time.Second},
		Summary:             summary,
	})
}

// arm sleeps until the stage's timeout, if it has one.
func (p *playbookRun) arm(until time.Time) {
	if p.timer != nil && !p.timer.IsReady() {
		if p.timerUntil.Equal(until) {
			return
		}
		p.stopTimer()
	}
	p.timer = nil
	if until.IsZero() {
		return
	}
	var ctx workflow.Context
	ctx, p.stopTimer = workflow.WithCancel(p.ctx)
	p.timer = workflow.NewTimerWithOptions(ctx, max(0, until.Sub(workflow.Now(p.ctx))), workflow.TimerOptions{Summary: "timeout of the stage"})
	p.timerUntil = until
}

// keepMirror stores the row, one activity at a time.
func (p *playbookRun) keepMirror() {
	if ready(p.mirror) {
		if err := p.mirror.Get(p.ctx, nil); err == nil && p.mirroring == p.state.GetSequence() {
			p.state.MirrorOwed = false
		}
		p.mirror = nil
	}
	if p.mirror != nil || !p.state.GetMirrorOwed() {
		return
	}
	p.mirroring = p.state.GetSequence()
	p.mirror = workflow.ExecuteActivity(p.patient("row of the playbook"), workflowv1.MirrorPlaybookActivity, &workflowv1.MirrorPlaybookInput{
		Playbook: proto.CloneOf(p.state.GetPlaybook()), Incarnation: p.state.GetIncarnation(), Sequence: p.mirroring,
		RequestId: p.state.GetRequestId(), Digest: p.state.GetDigest(),
	})
}

// apply applies one command.
func (p *playbookRun) apply(c *workflowv1.PlaybookCommand) error {
	now := workflow.Now(p.ctx)
	var err error
	switch command := c.GetCommand().(type) {
	case *workflowv1.PlaybookCommand_Approve:
		err = playbook.Approve(p.state, command.Approve.GetBy())
	case *workflowv1.PlaybookCommand_Reject:
		err = playbook.Reject(p.state, command.Reject.GetBy(), command.Reject.GetReason(), now)
	case *workflowv1.PlaybookCommand_Cancel:
		err = playbook.Cancel(p.state, command.Cancel.GetReason(), now)
	case *workflowv1.PlaybookCommand_Nudge:
		return p.nudge()
	default:
		err = playbook.ErrMalformed
	}
	if err == nil {
		p.touch()
	}
	return err
}

// nudge has the cluster tell again what it knows.
func (p *playbookRun) nudge() error {
	if playbook.Ended(p.status().GetState()) {
		return playbook.ErrFinished
	}
	clear(p.stopping)
	p.changed = true
	if p.status().GetState() == gnomonv1.PlaybookStatus_RUNNING {
		p.send("nudge", &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Nudge_{Nudge: &workflowv1.ClusterCommand_Nudge{}}}, func() {})
	}
	return nil
}

// handle makes the commands an update and the state a query (P-02).
func (p *playbookRun) handle() error {
	err := workflow.SetUpdateHandler(p.ctx, workflowv1.CommandPlaybook, func(_ workflow.Context, c *workflowv1.PlaybookCommand) (*gnomonv1.Playbook, error) {
		p.drain()
		if err := p.apply(c); err != nil {
			kind := workflowv1.RefusedMalformed
			switch {
			case errors.Is(err, playbook.ErrNotPending):
				kind = workflowv1.RefusedNotPending
			case errors.Is(err, playbook.ErrFinished):
				kind = workflowv1.RefusedFinished
			}
			return nil, temporal.NewNonRetryableApplicationError(err.Error(), kind, nil, p.status().GetState().String())
		}
		return proto.CloneOf(p.state.GetPlaybook()), nil
	})
	if err != nil {
		return err
	}
	return workflow.SetQueryHandler(p.ctx, workflowv1.QueryPlaybook, func() (*gnomonv1.Playbook, error) {
		return p.state.GetPlaybook(), nil
	})
}

// playbookDetails is the playbook as markdown, for the Web UI.
func playbookDetails(p *gnomonv1.Playbook) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** on cluster %s: **%s** %s\n\n| stage | state | done | failed | under way | waiting |\n|---|---|---|---|---|---|\n",
		p.GetId(), p.GetCluster(), p.GetStatus().GetState(), cell(p.GetStatus().GetReason()))
	for _, s := range p.GetStatus().GetStages() {
		ended, ok := 0, 0
		for _, a := range s.GetActions() {
			if playbook.Finished(a.GetState()) {
				ended++
			}
			if a.GetState() == gnomonv1.NodeAction_DONE {
				ok++
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", s.GetName(), s.GetState(), ok, s.GetFailures(), len(s.GetActions())-ended, s.GetWaiting())
	}
	return b.String()
}
