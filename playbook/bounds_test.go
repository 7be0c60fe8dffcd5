package playbook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// many are names of nodes, each so long.
func many(n, length int) []string {
	names := make([]string, n)
	for i := range n {
		names[i] = fmt.Sprintf("n%0*d", length-1, i)
	}
	return names
}

// asJSON is what a message takes in a payload.
func asJSON(t *testing.T, m proto.Message) int {
	t.Helper()
	text, err := protojson.Marshal(m)
	require.NoError(t, err)
	return len(text)
}

// What a playbook says of its nodes is refused with the field, from the first that is too
// many: the nodes of one stage, the definition's size, the status of all its actions.
func TestBoundsOfNamedNodes(t *testing.T) {
	t.Parallel()
	p := good()
	p.Stages = p.GetStages()[1:]
	p.Stages[0].Nodes = many(playbook.MaxNodes, 10)
	require.Empty(t, playbook.Validate(p))
	p.Stages[0].Nodes = many(playbook.MaxNodes+1, 10)
	require.Equal(t, []string{"stages[0].nodes TOO_MANY"}, found(playbook.Validate(p)))

	// 90 bytes each: the definition is too large before the status is.
	p.Stages[0].Nodes = many(playbook.MaxNodes, 90)
	require.Empty(t, playbook.Validate(p))
	p.Stages[0].GetExec().Argv[1] = strings.Repeat("\x01", 16<<10) // six times as much in JSON
	require.Equal(t, []string{"stages TOO_LONG"}, found(playbook.Validate(p)))

	p = good()
	p.Stages = nil
	for i := range 6 {
		s := proto.CloneOf(good().GetStages()[1])
		s.Name, s.Nodes = fmt.Sprintf("s%d", i), many(playbook.MaxNodes, 10)
		p.Stages = append(p.Stages, s)
	}
	require.Empty(t, playbook.Validate(p))
	last := proto.CloneOf(p.GetStages()[0])
	last.Name = "last"
	p.Stages = append(p.Stages, last)
	require.Equal(t, []string{"stages TOO_MANY"}, found(playbook.Validate(p)))
}

// How many nodes have a label shows when the stage begins: more than the playbook holds
// end the stage, which is a failure as any other.
func TestBoundsOfNodesFound(t *testing.T) {
	t.Parallel()
	all := func(onFailure gnomonv1.PlaybookStage_OnFailure) *gnomonv1.PlaybookStage {
		s := stage("one")
		s.AllNodes, s.OnFailure, s.AllowedFailures = true, onFailure, 3
		return s
	}
	s := start(all(gnomonv1.PlaybookStage_STOP))
	require.True(t, playbook.Next(s, noon).Resolve)
	playbook.StageNodes(s, many(playbook.MaxNodes, 10))
	require.Len(t, playbook.Next(s, noon).Schedule, playbook.MaxNodes)

	s = start(all(gnomonv1.PlaybookStage_STOP))
	playbook.Next(s, noon)
	playbook.StageNodes(s, many(playbook.MaxNodes+1, 10))
	step := playbook.Next(s, noon)
	require.Empty(t, step.Schedule)
	require.True(t, step.Ended)
	require.Equal(t, gnomonv1.PlaybookStatus_FAILED, state(s))
	require.Equal(t, "stage one: 2001 nodes are more than the playbook can hold", s.GetPlaybook().GetStatus().GetReason())

	s = start(all(gnomonv1.PlaybookStage_CONTINUE), stage("two", "n1"))
	playbook.Next(s, noon)
	playbook.StageNodes(s, many(playbook.MaxNodes+1, 10))
	_, ids := next(t, s, noon)
	require.Equal(t, []string{"p.1.n1"}, ids, "the next stage goes on")
	require.Equal(t, gnomonv1.PlaybookStatus_UNSUCCESSFUL, stageState(s, 0))

	// Stages add up, and the status stays what a payload takes.
	var stages []*gnomonv1.PlaybookStage
	for i := range 20 {
		one := all(gnomonv1.PlaybookStage_STOP)
		one.Name = fmt.Sprintf("s%d", i)
		stages = append(stages, one)
	}
	s = start(stages...)
	for ran := 0; ; ran++ {
		step := playbook.Next(s, noon)
		if step.Ended {
			require.Equal(t, gnomonv1.PlaybookStatus_FAILED, state(s))
			require.Positive(t, ran)
			break
		}
		if step.Resolve {
			playbook.StageNodes(s, many(playbook.MaxNodes, 90))
			step = playbook.Next(s, noon)
		}
		for _, a := range step.Schedule {
			tell(s, gnomonv1.NodeAction_DONE, a.GetId())
		}
		require.Less(t, asJSON(t, s.GetPlaybook()), playbook.MaxBytes+playbook.MaxStatusBytes)
	}
}

// A cluster takes so many nodes and so much of labels; what it has may be registered again.
func TestBoundsOfCluster(t *testing.T) {
	t.Parallel()
	s := playbook.New("c")
	for _, name := range many(playbook.MaxNodes, 10) {
		_, err := playbook.Register(s, &gnomonv1.Node{Name: name, Labels: map[string]string{"role": "db"}})
		require.NoError(t, err, name)
	}
	wanted := &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Register{Register: &gnomonv1.Node{Name: "more"}}}
	_, _, err := playbook.Apply(s, wanted, noon)
	require.ErrorIs(t, err, playbook.ErrFull)
	wanted.GetRegister().Name = s.GetNodes()[0].GetNode().GetName()
	_, _, err = playbook.Apply(s, wanted, noon)
	require.NoError(t, err)
	wanted.GetRegister().Labels = map[string]string{"role": strings.Repeat("x", playbook.MaxNodesBytes)}
	_, _, err = playbook.Apply(s, wanted, noon)
	require.ErrorIs(t, err, playbook.ErrFull)
	require.Empty(t, s.GetNodes()[0].GetNode().GetLabels())
}

// What does not fit beside what is unfinished is refused whole, and fits when some has
// finished.
func TestBoundsOfUnfinished(t *testing.T) {
	t.Parallel()
	s := playbook.New("c")
	_, err := playbook.Register(s, &gnomonv1.Node{Name: "n1"})
	require.NoError(t, err)
	schedule := func(id string) error {
		a := action(id, gnomonv1.NodeAction_PENDING_SCHEDULE, strings.Repeat("x", 30<<10))
		_, _, err := playbook.Apply(s, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Schedule_{
			Schedule: &workflowv1.ClusterCommand_Schedule{Actions: []*gnomonv1.NodeAction{a}},
		}}, noon)
		return err
	}
	taken := 0
	for err = schedule("0"); err == nil; err = schedule(fmt.Sprint(taken)) {
		taken++
	}
	require.ErrorIs(t, err, playbook.ErrFull)
	require.Equal(t, playbook.MaxUnfinishedBytes/(30<<10), taken)
	_, _, err = playbook.Apply(s, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{
		Cancel: &workflowv1.ClusterCommand_Decision{Action: "0"},
	}}, noon)
	require.NoError(t, err)
	require.NoError(t, schedule("again"))
}

// An error is cut between letters: a state that is no UTF-8 could not be carried.
func TestLongErrorsStayText(t *testing.T) {
	t.Parallel()
	s := playbook.New("c")
	_, err := playbook.Register(s, &gnomonv1.Node{Name: "n1"})
	require.NoError(t, err)
	playbook.BeginCycle(s, noon)
	for shift := range 3 {
		playbook.Failed(s, "n1", errors.New(strings.Repeat("x", shift)+strings.Repeat("€", 200)), noon)
		require.True(t, utf8.ValidString(s.GetNodes()[0].GetNode().GetReason()), shift)
	}
	_, err = proto.Marshal(s)
	require.NoError(t, err)
	require.NotEmpty(t, s.GetNodes()[0].GetNode().GetReason())
}

// No signal to a playbook has more than a payload takes.
func TestTellInParts(t *testing.T) {
	t.Parallel()
	var all []*gnomonv1.NodeAction
	for _, node := range many(playbook.MaxNodes, 90) {
		all = append(all, &gnomonv1.NodeAction{Id: strings.Repeat("p", 100) + ".99." + node, Node: node, Playbook: "p", State: gnomonv1.NodeAction_PENDING_SCHEDULE, Reason: strings.Repeat("r", 1000)})
	}
	told := map[string]bool{}
	for _, one := range playbook.Tell(all) {
		require.Equal(t, "p", one.Playbook)
		require.Less(t, asJSON(t, one.Progress), 512<<10)
		for _, a := range one.Progress.GetActions() {
			told[a.GetId()] = true
		}
	}
	require.Len(t, told, playbook.MaxNodes)
}
