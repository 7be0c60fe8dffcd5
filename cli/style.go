package cli

import (
	"image/color"

	"charm.land/lipgloss/v2"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// style colours text; without colours it leaves it as it is.
type style struct{ on bool }

func newStyle(on bool) style { return style{on: on} }

func (s style) heading(text string) string {
	if !s.on {
		return text
	}
	return lipgloss.NewStyle().Bold(true).Render(text)
}

// batchState and changeState colour as state does.
func (s style) batchState(state gnomonv1.BatchStatus_State) string {
	switch state {
	case gnomonv1.BatchStatus_COMPLETE:
		return s.coloured(state.String(), lipgloss.Green)
	case gnomonv1.BatchStatus_FAILED, gnomonv1.BatchStatus_PARTIAL_FAILURE:
		return s.coloured(state.String(), lipgloss.Red)
	case gnomonv1.BatchStatus_MANUAL_REVIEW:
		return s.coloured(state.String(), lipgloss.Yellow)
	case gnomonv1.BatchStatus_PROCESSING:
		return s.coloured(state.String(), lipgloss.Cyan)
	default:
		return state.String()
	}
}

func (s style) changeState(state gnomonv1.ChangeStatus_State) string {
	switch state {
	case gnomonv1.ChangeStatus_COMPLETE:
		return s.coloured(state.String(), lipgloss.Green)
	case gnomonv1.ChangeStatus_FAILED:
		return s.coloured(state.String(), lipgloss.Red)
	default:
		return state.String()
	}
}

// nodeState and playbookState colour as state does, by the class of the state.
func (s style) nodeState(state gnomonv1.NodeAction_State, text string) string {
	switch playbook.Class(state) {
	case gnomonv1.NodeAction_SUCCESS:
		return s.coloured(text, lipgloss.Green)
	case gnomonv1.NodeAction_UNSUCCESSFUL:
		return s.coloured(text, lipgloss.Red)
	case gnomonv1.NodeAction_NOT_EXECUTED:
		return s.coloured(text, lipgloss.BrightBlack)
	case gnomonv1.NodeAction_AGENT_INTERMEDIATE:
		return s.coloured(text, lipgloss.Cyan)
	default:
		if state == gnomonv1.NodeAction_PENDING_APPROVE {
			return s.coloured(text, lipgloss.Yellow)
		}
		return text
	}
}

func (s style) health(h gnomonv1.Node_Health) string {
	switch h {
	case gnomonv1.Node_UP:
		return s.coloured(healthName(h), lipgloss.Green)
	case gnomonv1.Node_DOWN, gnomonv1.Node_UNREACHABLE:
		return s.coloured(healthName(h), lipgloss.Red)
	default:
		return healthName(h)
	}
}

func (s style) playbookState(state gnomonv1.PlaybookStatus_State) string {
	switch state {
	case gnomonv1.PlaybookStatus_DONE:
		return s.coloured(state.String(), lipgloss.Green)
	case gnomonv1.PlaybookStatus_FAILED, gnomonv1.PlaybookStatus_CANCELLED:
		return s.coloured(state.String(), lipgloss.Red)
	case gnomonv1.PlaybookStatus_PENDING_APPROVE:
		return s.coloured(state.String(), lipgloss.Yellow)
	case gnomonv1.PlaybookStatus_RUNNING:
		return s.coloured(state.String(), lipgloss.Cyan)
	default:
		return state.String()
	}
}

func (s style) stageState(state gnomonv1.PlaybookStatus_StageState) string {
	return s.stageText(state, state.String())
}

func (s style) stageText(state gnomonv1.PlaybookStatus_StageState, text string) string {
	switch state {
	case gnomonv1.PlaybookStatus_SUCCEEDED:
		return s.coloured(text, lipgloss.Green)
	case gnomonv1.PlaybookStatus_UNSUCCESSFUL:
		return s.coloured(text, lipgloss.Red)
	case gnomonv1.PlaybookStatus_ACTIVE:
		return s.coloured(text, lipgloss.Cyan)
	default:
		return text
	}
}

func (s style) coloured(text string, colour color.Color) string {
	if !s.on {
		return text
	}
	return lipgloss.NewStyle().Foreground(colour).Render(text)
}

// state uses the basic colours, which follow the terminal's own theme.
func (s style) state(state gnomonv1.Status_State) string {
	text := stateName(state)
	if !s.on {
		return text
	}
	colour := lipgloss.NewStyle()
	switch state {
	case gnomonv1.Status_SUCCEEDED:
		colour = colour.Foreground(lipgloss.Green)
	case gnomonv1.Status_FAILED, gnomonv1.Status_EXPIRED:
		colour = colour.Foreground(lipgloss.Red)
	case gnomonv1.Status_RETRYING, gnomonv1.Status_PAUSED:
		colour = colour.Foreground(lipgloss.Yellow)
	case gnomonv1.Status_RUNNING:
		colour = colour.Foreground(lipgloss.Cyan)
	case gnomonv1.Status_DELETED:
		colour = colour.Faint(true)
	case gnomonv1.Status_SCHEDULED, gnomonv1.Status_STATE_UNSPECIFIED:
	}
	return colour.Render(text)
}
