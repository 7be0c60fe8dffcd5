package cli

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// stageCount is how many of a stage's actions stand where.
type stageCount struct{ done, bad, running, left int }

func (c stageCount) total() int { return c.done + c.bad + c.running + c.left }

// count counts the actions of a stage; nodes whose action does not exist yet are left.
func count(stage *gnomonv1.PlaybookStatus_StageStatus) stageCount {
	c := stageCount{left: int(stage.GetWaiting())}
	for _, a := range stage.GetActions() {
		switch {
		case a.GetState() == gnomonv1.NodeAction_DONE:
			c.done++
		case playbook.Finished(a.GetState()):
			c.bad++
		case a.GetState() == gnomonv1.NodeAction_RUNNING:
			c.running++
		default:
			c.left++
		}
	}
	return c
}

// stageWork is what a stage does, in one line.
func stageWork(stage *gnomonv1.PlaybookStage) string {
	a := &gnomonv1.NodeAction{}
	if exec := stage.GetExec(); exec != nil {
		a.Action = &gnomonv1.NodeAction_Exec{Exec: exec}
	}
	if request := stage.GetHttpRequest(); request != nil {
		a.Action = &gnomonv1.NodeAction_HttpRequest{HttpRequest: request}
	}
	return workOf(a)
}

// symbols stand for the states of actions where there is little room.
var symbols = map[gnomonv1.NodeAction_State]string{
	gnomonv1.NodeAction_PENDING_APPROVE:  "?",
	gnomonv1.NodeAction_PENDING_SCHEDULE: "○",
	gnomonv1.NodeAction_NEW:              "◔",
	gnomonv1.NodeAction_RUNNING:          "▶",
	gnomonv1.NodeAction_DONE:             "✓",
	gnomonv1.NodeAction_FAILED:           "✗",
	gnomonv1.NodeAction_CANCELLED:        "–",
	gnomonv1.NodeAction_LOST:             "✗",
}

const legend = "? wants approval  ○ waits  ◔ on the node  ▶ runs  ✓ done  – cancelled  ✗ failed or lost"

// drawPlaybook is a playbook as it moves, in at most height lines (0 for any number): a
// line for each stage, and below it its nodes while it is active or if it ended badly.
func (p *printer) drawPlaybook(one *gnomonv1.Playbook, height int) string {
	st := one.GetStatus()
	head := p.style.heading(visible(one.GetId())) + "  " + p.style.playbookState(st.GetState()) + "  on " + visible(one.GetCluster())
	switch {
	case st.GetFinishTime() != nil:
		head += ", ended " + p.moment.relative(st.GetFinishTime().AsTime())
	case st.GetStartTime() != nil:
		head += ", began " + p.moment.relative(st.GetStartTime().AsTime())
	}
	lines := []string{head}
	if st.GetReason() != "" {
		lines = append(lines, "  "+visible(st.GetReason()))
	}
	longest := 0
	for _, stage := range st.GetStages() {
		longest = max(longest, len(stage.GetName()))
	}
	// What is left for nodes when each stage has its line, and the legend its own.
	room := height - len(lines) - len(st.GetStages()) - 1
	if height <= 0 {
		room = 1 << 20
	}
	for _, stage := range st.GetStages() {
		lines = append(lines, p.stageLine(stage, longest))
		if s := stage.GetState(); s == gnomonv1.PlaybookStatus_ACTIVE || s == gnomonv1.PlaybookStatus_UNSUCCESSFUL {
			nodes := p.stageNodes(stage, max(0, room))
			room -= len(nodes)
			lines = append(lines, nodes...)
		}
	}
	return fit(strings.Join(append(lines, legend), "\n"), p.width)
}

// barWidth is that of a stage's bar.
const barWidth = 20

func (p *printer) stageLine(stage *gnomonv1.PlaybookStatus_StageStatus, longest int) string {
	// Padded before it is coloured: colours have no width.
	line := fmt.Sprintf("  %-*s  %s", longest, visible(stage.GetName()), p.style.stageText(stage.GetState(), fmt.Sprintf("%-12s", stage.GetState())))
	c := count(stage)
	if c.total() == 0 {
		return line
	}
	done, bad := barWidth*c.done/c.total(), barWidth*c.bad/c.total()
	if c.bad > 0 && bad == 0 {
		bad = 1
	}
	done = min(done, barWidth-bad)
	line += "  " + p.style.coloured(strings.Repeat("█", done), lipgloss.Green) + p.style.coloured(strings.Repeat("▓", bad), lipgloss.Red) +
		strings.Repeat("░", barWidth-done-bad) + fmt.Sprintf("  %d/%d", c.done+c.bad, c.total())
	if c.bad > 0 {
		line += ", " + p.style.coloured(fmt.Sprintf("%d not done", c.bad), lipgloss.Red)
	}
	return line
}

// stageNodes are the nodes of a stage, as many to a line as fit, in at most room lines.
func (p *printer) stageNodes(stage *gnomonv1.PlaybookStatus_StageStatus, room int) []string {
	widest := 0
	for _, a := range stage.GetActions() {
		widest = max(widest, len(a.GetNode()))
	}
	cell := widest + len("x ") + len("  ")
	perLine := max(1, (p.width-4)/cell)
	var lines []string
	for i, a := range stage.GetActions() {
		if i%perLine == 0 {
			if len(lines) == room {
				if room > 0 {
					lines[room-1] = fmt.Sprintf("    … and %d more", len(stage.GetActions())-i+perLine)
				}
				return lines
			}
			lines = append(lines, "    ")
		}
		text := fmt.Sprintf("%s %-*s", symbols[a.GetState()], widest, visible(a.GetNode()))
		lines[len(lines)-1] += p.style.nodeState(a.GetState(), text) + "  "
	}
	return lines
}
