package bench

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// lineChart is a picture with a line for each series. Both axes begin at zero.
type lineChart struct {
	Title, X, Y string
	Series      []series
}

// series is a line: points sorted by X, with a name.
type series struct {
	Name   string
	Points []point
}

// point is a point of a line, with the spread of the figures that it is the mean of.
type point struct{ X, Y, Low, High float64 }

// writeSVG draws the picture.
func (l *lineChart) writeSVG(w io.Writer) error {
	p, err := l.panel("", true)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(chartWidth, chartHeight)
	p.Draw(newPage(canvas, l.Title))
	return encodeSVG(w, canvas)
}

// panel draws the lines, with a title of its own if it is one of several.
func (l *lineChart) panel(title string, legend bool) (*plot.Plot, error) {
	p := plot.New()
	styleAxes(p)
	p.Title.Text, p.Title.TextStyle.Font = title, sans(labelSize)
	p.X.Label.Text, p.Y.Label.Text = l.X, l.Y
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.Padding = chartMargin, chartMargin/5
	p.Legend.TextStyle.Font = sans(labelSize)
	for i, s := range l.Series {
		if err := s.add(p, seriesColor(i), legend); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.Y.Min, p.Y.Max = 0, 0, 1.1*p.Y.Max
	p.X.Tick.Marker = l.ticks()
	return p, nil
}

// add draws the line, its points and their spread.
func (s *series) add(p *plot.Plot, of color.Color, legend bool) error {
	var points plotter.XYs
	for _, pt := range s.Points {
		points = append(points, plotter.XY{X: pt.X, Y: pt.Y})
		spread, err := plotter.NewLine(plotter.XYs{{X: pt.X, Y: pt.Low}, {X: pt.X, Y: pt.High}})
		if err != nil {
			return err
		}
		spread.Color, spread.Width = of, vg.Points(1.5)
		p.Add(spread)
	}
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = of, vg.Points(1.5)
	dots.Color, dots.Shape, dots.Radius = of, draw.CircleGlyph{}, vg.Points(2.5)
	p.Add(line, dots)
	if legend {
		p.Legend.Add(s.Name, line, dots)
	}
	return nil
}

// ticks has a tick for each X of a point.
func (l *lineChart) ticks() plot.ConstantTicks {
	ticks := plot.ConstantTicks{{Value: 0, Label: "0"}}
	for _, s := range l.Series {
		for _, pt := range s.Points {
			if !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return t.Value == pt.X }) {
				ticks = append(ticks, plot.Tick{Value: pt.X, Label: fmt.Sprint(pt.X)})
			}
		}
	}
	return ticks
}
