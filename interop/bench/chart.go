package bench

import (
	"bytes"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart is a picture of bars in groups, in one or more panels. Each group has a bar for each series.
type chart struct {
	title  string
	series []string
	panels []*panel
}

type panel struct {
	title  string
	groups []group
}

type group struct {
	name  string
	bars  []*bar  // by series, nil without a value
	bound float64 // of a dashed line across the group, none if it is 0
}

// bar is a value with the spread of its runs, and a text above it.
type bar struct {
	value, low, high float64
	text             string
}

// Sizes of a picture, and of its texts. groupWidth is the part of the room of a group that its bars take.
const (
	chartWidth, panelHeight        = 25 * vg.Centimeter, 8 * vg.Centimeter
	chartMargin                    = 0.5 * vg.Centimeter
	legendWidth                    = 4.2 * vg.Centimeter
	titleSize, labelSize, textSize = 12, 10, 7
	groupWidth                     = 0.86
)

// seriesColor returns the color of the i-th series, from the palette of Okabe and Ito, which
// color-blind people can tell apart, and gray.
func seriesColor(i int) color.Color {
	all := []color.RGBA{
		{0, 114, 178, 255}, {230, 159, 0, 255}, {0, 158, 115, 255},
		{204, 121, 167, 255}, {86, 180, 233, 255}, {213, 94, 0, 255},
		{0, 0, 0, 255}, {240, 228, 66, 255}, {140, 140, 140, 255},
	}
	return all[i%len(all)]
}

// write draws the chart as SVG.
func (c *chart) write(w io.Writer) error {
	canvas := vgsvg.New(chartWidth, vg.Length(len(c.panels))*panelHeight+4*chartMargin)
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	page.FillText(textStyle(titleSize, draw.XCenter, draw.YTop), vg.Point{X: page.Center().X, Y: page.Max.Y - chartMargin}, c.title)
	page = draw.Crop(page, chartMargin, -chartMargin, chartMargin, -3*chartMargin)
	c.drawLegend(draw.Crop(page, page.Size().X-legendWidth, 0, 0, 0))
	var plots [][]*plot.Plot
	for _, p := range c.panels {
		plots = append(plots, []*plot.Plot{p.plot()})
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadY: chartMargin}
	for i, row := range plot.Align(plots, tiles, draw.Crop(page, 0, -legendWidth-chartMargin, 0, 0)) {
		plots[i][0].Draw(row[0])
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Readers that do not have the font have one with letters of the same widths.
	const family = "font-family:Liberation Sans"
	_, err := w.Write(bytes.ReplaceAll(svg.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif")))
	return err
}

// drawLegend names the series, and the bound if there is one.
func (c *chart) drawLegend(on draw.Canvas) {
	const line, swatch = 1.6 * labelSize, labelSize
	at := vg.Point{X: on.Min.X, Y: on.Max.Y - line}
	name := func(text string) {
		on.FillText(textStyle(labelSize, draw.XLeft, draw.YBottom), vg.Point{X: at.X + 1.5*swatch, Y: at.Y}, text)
		at.Y -= line
	}
	for i, text := range c.series {
		on.FillPolygon(seriesColor(i), rectangle(at.X, at.Y, at.X+swatch, at.Y+swatch))
		name(text)
	}
	if c.panels[0].groups[0].bound > 0 {
		on.StrokeLine2(boundStyle(), at.X, at.Y+swatch/2, at.X+swatch, at.Y+swatch/2)
		name("the bound")
	}
}

// add adds the bar of a series to a group, which is the last one or a new one.
func (p *panel) add(name string, series int, b *bar) {
	if n := len(p.groups); n == 0 || p.groups[n-1].name != name {
		p.groups = append(p.groups, group{name: name})
	}
	g := &p.groups[len(p.groups)-1]
	g.bars = append(g.bars, make([]*bar, max(0, series+1-len(g.bars)))...)
	g.bars[series] = b
}

// plot returns the panel with its axes.
func (p *panel) plot() *plot.Plot {
	plt := plot.New()
	plt.Title.Text, plt.Title.TextStyle.Font, plt.Title.Padding = p.title, sans(labelSize), chartMargin/2
	var names []string
	low, high := 0.0, 0.0
	for _, g := range p.groups {
		names = append(names, g.name)
		high = max(high, g.bound)
		for _, b := range g.bars {
			if b != nil {
				low, high = min(low, b.low), max(high, b.high, b.value)
			}
		}
	}
	plt.Add(p)
	plt.NominalX(names...)
	for _, a := range []*plot.Axis{&plt.X, &plt.Y} {
		a.Tick.Label.Font, a.Padding = sans(labelSize), 0
	}
	plt.X.Min, plt.X.Max = -0.5, float64(len(names))-0.5
	plt.Y.Min, plt.Y.Max = low, max(1.1*high, 0.01)
	return plt
}

// Plot implements [plot.Plotter].
func (p *panel) Plot(on draw.Canvas, plt *plot.Plot) {
	x, y := plt.Transforms(&on)
	spread := draw.LineStyle{Color: color.Black, Width: vg.Points(1.5)}
	for k, g := range p.groups {
		width := groupWidth / float64(max(len(g.bars), 1))
		left := float64(k) - groupWidth/2
		for i, b := range g.bars {
			if b == nil {
				continue
			}
			middle := left + (float64(i)+0.5)*width
			on.FillPolygon(seriesColor(i), rectangle(x(middle-0.47*width), y(0), x(middle+0.47*width), y(b.value)))
			if b.high > b.low {
				on.StrokeLine2(spread, x(middle), y(b.low), x(middle), y(b.high))
			}
			above := vg.Point{X: x(middle), Y: y(max(b.value, b.high)) + vg.Points(1)}
			on.FillText(textStyle(textSize, draw.XCenter, draw.YBottom), above, b.text)
		}
		if g.bound > 0 {
			on.StrokeLine2(boundStyle(), x(left), y(g.bound), x(left+groupWidth), y(g.bound))
		}
	}
}

func rectangle(left, bottom, right, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}}
}

func sans(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func textStyle(size font.Length, xAlign draw.XAlignment, yAlign draw.YAlignment) draw.TextStyle {
	style := plot.New().Title.TextStyle
	style.Font, style.XAlign, style.YAlign = sans(size), xAlign, yAlign
	return style
}

func boundStyle() draw.LineStyle {
	return draw.LineStyle{Color: color.Gray{Y: 60}, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
}

// WriteSVG draws the throughput of each system, with the bound.
func (r *Report) WriteSVG(w io.Writer) error {
	c := chart{title: r.Case + ", " + megabytes(float64(r.Bytes))}
	g := group{name: r.Scenario, bound: r.Bound / 1e6}
	for _, res := range r.Results {
		c.series = append(c.series, res.System)
		g.bars = append(g.bars, newBar(res.Rate/1e6, res.Slowest/1e6, res.Fastest/1e6, "%.1f"))
	}
	c.panels = []*panel{{title: "throughput, MB/s", groups: []group{g}}}
	return c.write(w)
}

// newBar returns a bar with its value above it. Zero is the value of a system that failed.
func newBar(value, low, high float64, format string) *bar {
	b := &bar{value: value, low: low, high: high, text: "failed"}
	if value != 0 {
		b.text = fmt.Sprintf(format, value)
	}
	return b
}
