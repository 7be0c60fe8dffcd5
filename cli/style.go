package cli

import (
	"image/color"

	"charm.land/lipgloss/v2"

	gnomonv1 "gnomon/api/gnomon/v1"
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
