package bench

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The width of the legend of a picture of scenarios, and the size of the figures at its bars.
const (
	legendWidth = 4.2 * vg.Centimeter
	figureSize  = 7
)

// groupWidth is the part of the room of a scenario that its bars take.
const groupWidth = 0.86

// WriteSVG draws the throughput of each system in each scenario with the bound, and below it the
// throughput relative to the first scenario. Of a single scenario it draws the picture of
// [Report.WriteSVG].
func (s Scenarios) WriteSVG(w io.Writer) error {
	if len(s) == 1 {
		return s[0].WriteSVG(w)
	}
	rates, err := s.ratePanel()
	if err != nil {
		return err
	}
	relative, err := s.relativePanel()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(chartWidth, 1.6*chartHeight)
	page := newPage(canvas, s[0].grid())
	if err := s.drawLegend(draw.Crop(page, page.Size().X-legendWidth, 0, 0, 0)); err != nil {
		return err
	}
	panels := [][]*plot.Plot{{rates}, {relative}}
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: chartMargin}
	for i, row := range plot.Align(panels, tiles, draw.Crop(page, 0, -legendWidth-chartMargin, 0, 0)) {
		panels[i][0].Draw(row[0])
	}
	return encodeSVG(w, canvas)
}

// ratePanel has a bar for each system in each scenario, and a line across those of a scenario at
// its bound.
func (s Scenarios) ratePanel() (*plot.Plot, error) {
	g := newGroups("throughput, MB/s", s, len(s.systems()))
	for k, r := range s {
		for i, system := range s.systems() {
			if res := r.result(system); res != nil {
				g.addBar(k, i, res.Rate/1e6, fmt.Sprintf("%.1f", res.Rate/1e6))
				g.addSpread(k, i, res.Slowest/1e6, res.Fastest/1e6)
			}
		}
		g.addBound(k, r.Bound/1e6)
	}
	return g.done()
}

// relativePanel is ratePanel with rates and bounds relative to those of the first scenario.
func (s Scenarios) relativePanel() (*plot.Plot, error) {
	first, others := s[0], s[1:]
	g := newGroups("throughput relative to "+first.Scenario+", percent", others, len(s.systems()))
	for k, r := range others {
		for i, system := range s.systems() {
			if res, of := r.result(system), first.result(system); res != nil && of != nil && of.Rate > 0 {
				share := 100 * res.Rate / of.Rate
				g.addBar(k, i, share, fmt.Sprintf("%.0f", share))
			}
		}
		if first.Bound > 0 {
			g.addBound(k, 100*r.Bound/first.Bound)
		}
	}
	return g.done()
}

// groups draws groups of bars side by side, at 0, 1 and so on, with figures at the bars. The first
// error is kept.
type groups struct {
	panel *plot.Plot
	// width of a bar; the distance between groups is 1.
	width   float64
	figures plotter.XYLabels
	err     error
}

// newGroups makes an empty panel with a group for each scenario.
func newGroups(title string, scenarios Scenarios, bars int) *groups {
	p := plot.New()
	styleAxes(p)
	p.Title.Text, p.Title.TextStyle.Font = title, sans(labelSize)
	p.Title.Padding = chartMargin / 2
	names := make([]string, len(scenarios))
	for i, r := range scenarios {
		names[i] = r.Scenario
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	p.Y.Min = 0
	return &groups{panel: p, width: groupWidth / float64(bars)}
}

// middle is where the i-th bar of the k-th group is.
func (g *groups) middle(k, i int) float64 {
	return float64(k) - groupWidth/2 + (float64(i)+0.5)*g.width
}

// addBar draws the i-th bar of the k-th group. One of no height is that of a system that failed.
func (g *groups) addBar(k, i int, height float64, text string) {
	x := g.middle(k, i)
	bar, err := newBar(x-0.47*g.width, x+0.47*g.width, height, seriesColor(i))
	g.keep(err)
	if err == nil {
		g.panel.Add(bar)
	}
	if height == 0 {
		text = "failed"
	}
	g.figures.XYs = append(g.figures.XYs, plotter.XY{X: x, Y: height})
	g.figures.Labels = append(g.figures.Labels, text)
	g.panel.Y.Max = max(g.panel.Y.Max, 1.1*height)
}

// addSpread draws a line from the slowest run of a bar to the fastest, and has its figure above.
func (g *groups) addSpread(k, i int, low, high float64) {
	if high > low {
		g.keep(addSpread(g.panel, g.middle(k, i), low, high))
		g.figures.XYs[len(g.figures.XYs)-1].Y = high
	}
}

// addBound draws a dashed line across the k-th group. A bound of 0 draws nothing.
func (g *groups) addBound(k int, height float64) {
	if height == 0 {
		return
	}
	line, err := plotter.NewLine(plotter.XYs{{X: float64(k) - groupWidth/2, Y: height}, {X: float64(k) + groupWidth/2, Y: height}})
	g.keep(err)
	if err != nil {
		return
	}
	line.LineStyle = boundStyle()
	g.panel.Add(line)
	g.panel.Y.Max = max(g.panel.Y.Max, 1.1*height)
}

// done adds the figures, which no bar hides then, and returns the panel.
func (g *groups) done() (*plot.Plot, error) {
	figures, err := plotter.NewLabels(g.figures)
	g.keep(err)
	if g.err != nil {
		return nil, g.err
	}
	for i := range figures.TextStyle {
		figures.TextStyle[i].Font = sans(figureSize)
		figures.TextStyle[i].XAlign, figures.TextStyle[i].YAlign = draw.XCenter, draw.YBottom
	}
	figures.Offset.Y = vg.Points(1)
	g.panel.Add(figures)
	return g.panel, nil
}

func (g *groups) keep(err error) {
	if g.err == nil {
		g.err = err
	}
}

// newBar is a bar with edges at left and right.
func newBar(left, right, height float64, of color.Color) (*plotter.Polygon, error) {
	bar, err := plotter.NewPolygon(plotter.XYs{{X: left}, {X: left, Y: height}, {X: right, Y: height}, {X: right}})
	if err != nil {
		return nil, err
	}
	bar.Color, bar.LineStyle.Width = of, 0
	return bar, nil
}

func boundStyle() draw.LineStyle {
	return draw.LineStyle{Color: color.Gray{Y: 60}, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
}

// drawLegend names the systems, and the bound.
func (s Scenarios) drawLegend(c draw.Canvas) error {
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font, legend.Padding = sans(labelSize), vg.Points(3)
	for i, system := range s.systems() {
		bar, err := newBar(0, 1, 1, seriesColor(i))
		if err != nil {
			return err
		}
		legend.Add(system, bar)
	}
	legend.Add("the bound", &plotter.Line{LineStyle: boundStyle()})
	legend.Draw(c)
	return nil
}
