package playbook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

func stage(name string, nodes ...string) *gnomonv1.PlaybookStage {
	return &gnomonv1.PlaybookStage{
		Name: name, Nodes: nodes, Action: &gnomonv1.PlaybookStage_Exec{Exec: &gnomonv1.ExecAction{
			Argv: []string{"/bin/touch", "${dir}/${stage}-${node}", "$$5"}, Environment: map[string]string{"P": "${playbook}"},
		}},
	}
}

func start(stages ...*gnomonv1.PlaybookStage) *workflowv1.PlaybookState {
	return playbook.Start(&gnomonv1.Playbook{
		Id: "p", Cluster: "c", Stages: stages, Variables: map[string]string{"dir": "/tmp/${node}"},
	}, noon)
}

// next resolves the named nodes where it is asked to, and returns the ids to schedule.
func next(t *testing.T, s *workflowv1.PlaybookState, now time.Time) (playbook.Step, []string) {
	t.Helper()
	step := playbook.Next(s, now)
	if step.Resolve {
		playbook.StageNodes(s, playbook.Choose(s.GetPlaybook().GetStages()[s.GetStage()], []*gnomonv1.Node{
			{Name: "n1", Labels: map[string]string{"zone": "a"}},
			{Name: "n2", Labels: map[string]string{"zone": "a", "disk": "ssd"}},
			{Name: "n3", Labels: map[string]string{"zone": "b"}},
		}))
		step = playbook.Next(s, now)
	}
	var ids []string
	for _, a := range step.Schedule {
		ids = append(ids, a.GetId())
	}
	return step, ids
}

func tell(s *workflowv1.PlaybookState, state gnomonv1.NodeAction_State, ids ...string) bool {
	p := &workflowv1.PlaybookProgress{}
	for _, id := range ids {
		p.Actions = append(p.Actions, &workflowv1.PlaybookProgress_Action{Id: id, State: state})
	}
	return playbook.Progress(s, p)
}

func state(s *workflowv1.PlaybookState) gnomonv1.PlaybookStatus_State {
	return s.GetPlaybook().GetStatus().GetState()
}

func stageState(s *workflowv1.PlaybookState, i int) gnomonv1.PlaybookStatus_StageState {
	return s.GetPlaybook().GetStatus().GetStages()[i].GetState()
}

// a stage's actions exist only when all of the stage before have finished.
func TestStagesApart(t *testing.T) {
	t.Parallel()
	s := start(stage("one", "n1", "n2"), stage("two", "n1"))
	step, ids := next(t, s, noon)
	require.Equal(t, []string{"p.0.n1", "p.0.n2"}, ids)
	require.Equal(t, []string{"/bin/touch", "/tmp/${node}/one-n1", "$5"}, step.Schedule[0].GetExec().GetArgv(), "values are not expanded again")
	require.Equal(t, "p", step.Schedule[0].GetExec().GetEnvironment()["P"])
	require.Equal(t, gnomonv1.NodeAction_PENDING_SCHEDULE, step.Schedule[0].GetState())

	_, ids = next(t, s, noon)
	require.Empty(t, ids, "asked again nothing is made twice")
	require.True(t, tell(s, gnomonv1.NodeAction_DONE, "p.0.n1"))
	require.False(t, tell(s, gnomonv1.NodeAction_DONE, "p.0.n1"), "told again changes nothing")
	_, ids = next(t, s, noon)
	require.Empty(t, ids)
	tell(s, gnomonv1.NodeAction_DONE, "p.0.n2")
	_, ids = next(t, s, noon)
	require.Equal(t, []string{"p.1.n1"}, ids)
	require.Equal(t, gnomonv1.PlaybookStatus_SUCCEEDED, stageState(s, 0))
	require.False(t, tell(s, gnomonv1.NodeAction_FAILED, "p.0.n1"), "a stage that is over stays as it is")
	tell(s, gnomonv1.NodeAction_DONE, "p.1.n1")
	step, _ = next(t, s, noon)
	require.True(t, step.Ended)
	require.Equal(t, gnomonv1.PlaybookStatus_DONE, state(s))
}

// Never more unfinished at a time than the stage says.
func TestParallel(t *testing.T) {
	t.Parallel()
	one := stage("one")
	one.AllNodes, one.Parallel = true, 2
	s := start(one)
	_, ids := next(t, s, noon)
	require.Equal(t, []string{"p.0.n1", "p.0.n2"}, ids)
	require.EqualValues(t, 1, s.GetPlaybook().GetStatus().GetStages()[0].GetWaiting())
	tell(s, gnomonv1.NodeAction_RUNNING, "p.0.n1")
	_, ids = next(t, s, noon)
	require.Empty(t, ids)
	tell(s, gnomonv1.NodeAction_DONE, "p.0.n2")
	_, ids = next(t, s, noon)
	require.Equal(t, []string{"p.0.n3"}, ids)
}

// every kind of unsuccessful end counts, and the stage's rule decides.
func TestOnFailure(t *testing.T) {
	t.Parallel()
	for _, bad := range []gnomonv1.NodeAction_State{gnomonv1.NodeAction_FAILED, gnomonv1.NodeAction_LOST, gnomonv1.NodeAction_CANCELLED} {
		one := stage("one", "n1", "n2", "n3")
		one.Parallel = 2
		s := start(one, stage("two", "n1"))
		next(t, s, noon)
		tell(s, bad, "p.0.n1")
		step, ids := next(t, s, noon)
		require.Empty(t, ids, "nothing more is begun")
		require.False(t, step.Ended, "what is under way may finish")
		tell(s, gnomonv1.NodeAction_DONE, "p.0.n2")
		step, _ = next(t, s, noon)
		require.True(t, step.Ended)
		require.Equal(t, gnomonv1.PlaybookStatus_FAILED, state(s))
		require.Equal(t, "stage one: 1 actions did not succeed, 0 are allowed", s.GetPlaybook().GetStatus().GetReason())
		require.Equal(t, gnomonv1.PlaybookStatus_UNSUCCESSFUL, stageState(s, 0))
		require.Equal(t, gnomonv1.PlaybookStatus_SKIPPED, stageState(s, 1))
	}
	for name, change := range map[string]func(*gnomonv1.PlaybookStage){
		"continue": func(p *gnomonv1.PlaybookStage) { p.OnFailure = gnomonv1.PlaybookStage_CONTINUE },
		"allowed":  func(p *gnomonv1.PlaybookStage) { p.AllowedFailures = 1 },
	} {
		one := stage("one", "n1", "n2")
		change(one)
		s := start(one, stage("two", "n1"))
		next(t, s, noon)
		tell(s, gnomonv1.NodeAction_FAILED, "p.0.n1")
		tell(s, gnomonv1.NodeAction_DONE, "p.0.n2")
		_, ids := next(t, s, noon)
		require.Equal(t, []string{"p.1.n1"}, ids, name)
	}
}

// A stage that runs too long: what is unfinished is cancelled, what was not begun never
// is, and both count.
func TestTimeout(t *testing.T) {
	t.Parallel()
	one := stage("one", "n1", "n2", "n3")
	one.Parallel, one.Timeout = 1, durationpb.New(time.Minute)
	s := start(one)
	step, _ := next(t, s, noon)
	require.Equal(t, noon.Add(time.Minute), step.Until)
	step, ids := next(t, s, noon.Add(time.Minute-1))
	require.Empty(t, append(step.Cancel, ids...))
	step, ids = next(t, s, noon.Add(time.Minute))
	require.Empty(t, ids)
	require.Equal(t, []string{"p.0.n1"}, step.Cancel)
	tell(s, gnomonv1.NodeAction_CANCELLED, "p.0.n1")
	step, _ = next(t, s, noon.Add(time.Minute))
	require.True(t, step.Ended)
	require.EqualValues(t, 3, s.GetPlaybook().GetStatus().GetStages()[0].GetFailures())
	require.Contains(t, s.GetPlaybook().GetStatus().GetReason(), "longer than 1m0s")
}

// A stage that goes on after failures, or allows as many as it has nodes, begins nothing
// after its time either.
func TestTimeoutBeginsNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*gnomonv1.PlaybookStage){
		"continue": func(p *gnomonv1.PlaybookStage) { p.OnFailure = gnomonv1.PlaybookStage_CONTINUE },
		"allowed":  func(p *gnomonv1.PlaybookStage) { p.AllowedFailures = 3 },
	} {
		one := stage("one", "n1", "n2", "n3")
		one.Parallel, one.Timeout = 1, durationpb.New(time.Minute)
		change(one)
		s := start(one, stage("two", "n1"))
		next(t, s, noon)
		step, ids := next(t, s, noon.Add(time.Minute))
		require.Empty(t, ids, name)
		require.Equal(t, []string{"p.0.n1"}, step.Cancel, name)
		tell(s, gnomonv1.NodeAction_CANCELLED, "p.0.n1")
		_, ids = next(t, s, noon.Add(time.Minute))
		require.Equal(t, []string{"p.1.n1"}, ids, "%s: on to the next stage, without n2 and n3", name)
		require.EqualValues(t, 3, s.GetPlaybook().GetStatus().GetStages()[0].GetFailures(), name)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	byLabel := stage("one")
	byLabel.NodeLabels = map[string]string{"zone": "a"}
	_, ids := next(t, start(byLabel), noon)
	require.Equal(t, []string{"p.0.n1", "p.0.n2"}, ids)

	byLabel.NodeLabels = map[string]string{"zone": "z"}
	s := start(byLabel)
	step, _ := next(t, s, noon)
	require.True(t, step.Ended)
	require.Equal(t, gnomonv1.PlaybookStatus_FAILED, state(s))
	require.Contains(t, s.GetPlaybook().GetStatus().GetReason(), "no node")
}

func TestCommands(t *testing.T) {
	t.Parallel()
	waiting := func() *workflowv1.PlaybookState {
		return playbook.Start(&gnomonv1.Playbook{Id: "p", Approve: true, Stages: []*gnomonv1.PlaybookStage{stage("one", "n1")}}, noon)
	}
	s := waiting()
	step, _ := next(t, s, noon)
	require.Equal(t, playbook.Step{}, step, "nothing before the approval")
	require.NoError(t, playbook.Approve(s, "ada"))
	require.ErrorIs(t, playbook.Approve(s, "ada"), playbook.ErrNotPending)
	require.ErrorIs(t, playbook.Reject(s, "ada", "", noon), playbook.ErrNotPending)
	_, ids := next(t, s, noon)
	require.Equal(t, []string{"p.0.n1"}, ids)

	require.NoError(t, playbook.Cancel(s, "enough", noon))
	require.NoError(t, playbook.Cancel(s, "again", noon))
	step, _ = next(t, s, noon)
	require.Equal(t, []string{"p.0.n1"}, step.Cancel)
	require.Equal(t, gnomonv1.PlaybookStatus_RUNNING, state(s), "until its actions have ended")
	tell(s, gnomonv1.NodeAction_CANCELLED, "p.0.n1")
	step, _ = next(t, s, noon)
	require.True(t, step.Ended)
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, state(s))
	require.Equal(t, "enough", s.GetPlaybook().GetStatus().GetReason())
	require.ErrorIs(t, playbook.Cancel(s, "", noon), playbook.ErrFinished)

	s = waiting()
	require.NoError(t, playbook.Reject(s, "eve", "no", noon))
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, state(s))
	s = waiting()
	require.NoError(t, playbook.Cancel(s, "", noon))
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, state(s))

	// Between two stages nothing is unfinished, and nothing more begins.
	s = start(stage("one", "n1"), stage("two", "n1"))
	next(t, s, noon)
	require.NoError(t, playbook.Cancel(s, "", noon))
	tell(s, gnomonv1.NodeAction_DONE, "p.0.n1")
	step, ids = next(t, s, noon)
	require.Empty(t, ids)
	require.True(t, step.Ended)
	require.Equal(t, gnomonv1.PlaybookStatus_CANCELLED, state(s))
}
