package cli

import (
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// renderTable lays out rows under headers in columns without lines, as tools such
// as kubectl do, so that it can be cut and searched by other programs too. width
// is the terminal's, 0 for none: cells are never wrapped, lines are cut to it.
func renderTable(s style, width int, headers []string, rows [][]string) string {
	styled := make([]string, len(headers))
	for i, header := range headers {
		styled[i] = s.heading(header)
	}
	last := len(headers) - 1
	text := table.New().
		Headers(styled...).
		Rows(rows...).
		Border(lipgloss.HiddenBorder()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderHeader(false).BorderColumn(false).BorderRow(false).
		Wrap(false).
		StyleFunc(func(_, column int) lipgloss.Style {
			if column == last {
				return lipgloss.NewStyle()
			}
			return lipgloss.NewStyle().PaddingRight(2)
		}).
		String()
	return fit(text, width)
}

// fit removes trailing space from every line and cuts it to width, 0 for none.
func fit(text string, width int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " ")
		if width > 0 {
			line = lipgloss.NewStyle().MaxWidth(width).Render(line)
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
