package report

import (
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

func drawCanvas(c *vgsvg.Canvas) draw.Canvas { return draw.New(c) }

// withoutProlog is an SVG as a part of a page.
func withoutProlog(svg string) string {
	if i := strings.Index(svg, "<svg"); i > 0 {
		return svg[i:]
	}
	return svg
}
