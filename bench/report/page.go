package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"number": number}).Parse(pageText))

// drawing is one plot of the page.
type drawing struct {
	Title string
	SVG   template.HTML
}

// Page is the results as an HTML page with plots, which needs nothing else.
func (r *Report) Page() ([]byte, error) {
	figures := r.Figures()
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []drawing
	add := func(title, x, y string, curves map[string][]Point) error {
		svg, err := drawn(x, y, curves)
		all = append(all, drawing{title, svg})
		return err
	}
	for _, on := range slices.Sorted(maps.Keys(r.lags)) {
		curves := map[string][]Point{}
		for name, lags := range r.lags[on] {
			curves[name] = distribution(lags)
		}
		if err := add("Lag at a steady rate, "+on, "lag, ms", "part that is no later", curves); err != nil {
			return nil, err
		}
	}
	for _, on := range slices.Sorted(maps.Keys(r.drains)) {
		if err := add("How a herd drains, "+on, "seconds after it was due", "arrived", r.drains[on]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.growth)) {
		if err := add("Growth: "+name, "actions that wait", name, map[string][]Point{"gnomon": r.growth[name]}); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, struct {
		Report   *Report
		Figures  []Figure
		Drawings []drawing
	}{r, figures, all})
	return out.Bytes(), err
}

// distribution of lags: which part is no later than X milliseconds.
func distribution(all []time.Duration) []Point {
	sorted := slices.Sorted(slices.Values(all))
	step := max(1, len(sorted)/500) // more cannot be seen
	var curve []Point
	for i := 0; i < len(sorted); i += step {
		curve = append(curve, Point{Milliseconds(sorted[i]), float64(i+1) / float64(len(sorted))})
	}
	return curve
}

// drawn is an SVG of curves, those of a name always in the same order.
func drawn(x, y string, curves map[string][]Point) (template.HTML, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, name := range slices.Sorted(maps.Keys(curves)) {
		points := make(plotter.XYs, len(curves[name]))
		for k, q := range curves[name] {
			points[k].X, points[k].Y = q.X, q.Y
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return "", err
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(name, line)
	}
	canvas := vgsvg.New(16*vg.Centimeter, 9*vg.Centimeter)
	p.Draw(drawCanvas(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	return template.HTML(withoutProlog(out.String())), nil //nolint:gosec // it is this program's own drawing
}
