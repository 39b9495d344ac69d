package bench

import (
	"maps"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// timePanel has a line for each system: the share of the capacity of all links into other
// clusters that it used over time, or the share of whole nodes where that was not measured.
func timePanel(r *Report) (*plot.Plot, error) {
	title, line, limit := "share of all links' rates in use (colours as on the left)", useLine, r.TCPShare
	if !slices.ContainsFunc(r.Results, func(res Result) bool { return len(res.Median().Use) > 0 }) {
		title, line, limit = "share of the nodes that are whole (colours as on the left)", wholeLine, 0
	}
	p := newPanel(title)
	p.X.Label.Text = "seconds"
	p.X.Min, p.X.Max = 0, 1
	for i := range r.Results {
		points := line(r.Results[i].Median())
		if len(points) == 0 {
			continue
		}
		l, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		l.Color, l.Width = seriesColor(i), vg.Points(1.5)
		p.Add(l)
		p.X.Max = max(p.X.Max, points[len(points)-1].X)
	}
	return p, addTCPLimit(p, limit, "")
}

func useLine(r *Run) plotter.XYs {
	var points plotter.XYs
	for _, u := range r.Use {
		points = append(points, plotter.XY{X: u.At, Y: u.Share})
	}
	return points
}

// wholeLine is a step for each node.
func wholeLine(r *Run) plotter.XYs {
	points := plotter.XYs{{}}
	times := slices.Sorted(maps.Values(r.Finished))
	for i, at := range times {
		before, after := float64(i)/float64(len(times)), float64(i+1)/float64(len(times))
		points = append(points, plotter.XY{X: at, Y: before}, plotter.XY{X: at, Y: after})
	}
	return points
}
