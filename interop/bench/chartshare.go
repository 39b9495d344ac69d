package bench

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sharePanel has a bar for each system: its share of the bound, with the spread of its runs.
func sharePanel(r *Report) (*plot.Plot, error) {
	title := fmt.Sprintf("share of the bound, %.3g MB/s", r.Bound/1e6)
	if r.Bound == 0 {
		title = "share of the fastest"
	}
	p := newPanel(title)
	most := r.Bound
	for _, res := range r.Results {
		if r.Bound == 0 {
			most = max(most, res.Fastest)
		}
	}
	most = max(most, 1) // no run succeeded: empty bars
	names := make([]string, len(r.Results))
	labels := plotter.XYLabels{}
	for i, res := range r.Results {
		names[i] = res.System
		bar, err := plotter.NewBarChart(plotter.Values{res.Rate / most}, barWidth(len(r.Results)))
		if err != nil {
			return nil, err
		}
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(i), seriesColor(i), 0
		p.Add(bar)
		if res.Fastest > res.Slowest {
			if err := addSpread(p, float64(i), res.Slowest/most, res.Fastest/most); err != nil {
				return nil, err
			}
		}
		labels.XYs = append(labels.XYs, plotter.XY{X: float64(i), Y: res.Fastest / most})
		labels.Labels = append(labels.Labels, r.rateLabel(&res))
	}
	if err := addRateLabels(p, labels); err != nil {
		return nil, err
	}
	p.NominalX(names...)
	p.X.Tick.Label.Font = sans(labelSize - 1)
	p.X.Min, p.X.Max = -0.6, float64(len(names))-0.4
	if r.Bound == 0 {
		return p, nil
	}
	return p, addTCPLimit(p, r.TCPShare, "all that TCP can carry")
}

// barWidth is the width of each of n bars with gaps between them.
func barWidth(n int) vg.Length {
	return min((chartWidth/2-3*chartMargin)/vg.Length(n)*0.6, 2*vg.Centimeter)
}

// rateLabel is the rate and, with racks, the most copies that entered one.
func (r *Report) rateLabel(res *Result) string {
	if res.Rate == 0 {
		return "failed"
	}
	text := fmt.Sprintf("%.3g MB/s", res.Rate/1e6)
	most := 0.0
	for _, c := range r.otherRacks(res.Median()) {
		most = max(most, c.Copies)
	}
	if most > 0 {
		text += fmt.Sprintf("\n%.2f/rack", most)
	}
	return text
}

// addSpread adds a line from the slowest to the fastest run.
func addSpread(p *plot.Plot, x, low, high float64) error {
	line, err := plotter.NewLine(plotter.XYs{{X: x, Y: low}, {X: x, Y: high}})
	if err != nil {
		return err
	}
	line.Width = vg.Points(1.5)
	p.Add(line)
	return nil
}

// highBar is the share from which the rate is written within the bar instead of above it,
// clear of the line of addTCPLimit.
const highBar = 0.85

// addRateLabels writes the rates above the bars, or within high ones.
func addRateLabels(p *plot.Plot, labels plotter.XYLabels) error {
	l, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range l.TextStyle {
		l.TextStyle[i].Font = sans(labelSize)
		l.TextStyle[i].XAlign, l.TextStyle[i].YAlign = draw.XCenter, draw.YBottom
		if labels.XYs[i].Y > highBar {
			l.TextStyle[i].YAlign, l.TextStyle[i].Color = draw.YTop, color.White
			l.XYs[i].Y -= 0.06 // below the spread too
		}
	}
	l.Offset.Y = vg.Points(3)
	p.Add(l)
	return nil
}

// addTCPLimit adds a dashed line at the share that TCP payload can reach, with a text. A
// share of 0 adds nothing.
func addTCPLimit(p *plot.Plot, share float64, text string) error {
	if share == 0 {
		return nil
	}
	line, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: share}, {X: p.X.Max, Y: share}})
	if err != nil {
		return err
	}
	line.Color, line.Dashes = color.Gray{Y: 110}, []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(line)
	label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: p.X.Max, Y: share}}, Labels: []string{text}})
	if err != nil {
		return err
	}
	label.TextStyle[0].Font, label.TextStyle[0].Color = sans(labelSize-2), color.Gray{Y: 110}
	label.TextStyle[0].XAlign, label.TextStyle[0].YAlign = draw.XRight, draw.YBottom
	label.Offset.Y = vg.Points(1)
	p.Add(label)
	return nil
}
