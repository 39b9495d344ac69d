package bench

import (
	"bytes"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart is a picture of bars in groups. Each group has a bar for each series.
type chart struct {
	title  string
	series []string
	groups []group
}

type group struct {
	name string
	bars []bar // by series
}

// bar is a value, and the value of the paper, which is a dashed line across it. Zero: none.
type bar struct{ value, published float64 }

// Sizes of a picture, and of its texts. groupWidth is the part of the room of a group that its bars take.
const (
	chartWidth, chartHeight        = 25 * vg.Centimeter, 10 * vg.Centimeter
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
	canvas := vgsvg.New(chartWidth, chartHeight)
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	page.FillText(textStyle(titleSize, draw.XCenter, draw.YTop), vg.Point{X: page.Center().X, Y: page.Max.Y - chartMargin}, c.title)
	page = draw.Crop(page, chartMargin, -chartMargin, chartMargin, -3*chartMargin)
	c.drawLegend(draw.Crop(page, page.Size().X-legendWidth, 0, 0, 0))
	c.plot().Draw(draw.Crop(page, 0, -legendWidth-chartMargin, 0, 0))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Readers that do not have the font have one with letters of the same widths.
	const family = "font-family:Liberation Sans"
	_, err := w.Write(bytes.ReplaceAll(svg.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif")))
	return err
}

// drawLegend names the series, and the paper if it has values.
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
	if c.published() {
		on.StrokeLine2(publishedStyle(), at.X, at.Y+swatch/2, at.X+swatch, at.Y+swatch/2)
		name("the paper")
	}
}

// published reports whether a bar has a value of the paper.
func (c *chart) published() bool {
	return slices.ContainsFunc(c.groups, func(g group) bool {
		return slices.ContainsFunc(g.bars, func(b bar) bool { return b.value > 0 && b.published > 0 })
	})
}

// add adds the bar of a series to a group.
func (c *chart) add(name, series string, b bar) {
	i := slices.IndexFunc(c.groups, func(g group) bool { return g.name == name })
	if i < 0 {
		i = len(c.groups)
		c.groups = append(c.groups, group{name: name})
	}
	k := slices.Index(c.series, series)
	if k < 0 {
		k = len(c.series)
		c.series = append(c.series, series)
	}
	g := &c.groups[i]
	g.bars = append(g.bars, make([]bar, max(0, k+1-len(g.bars)))...)
	g.bars[k] = b
}

// plot returns the axes and the bars.
func (c *chart) plot() *plot.Plot {
	plt := plot.New()
	var names []string
	high := 0.01
	for _, g := range c.groups {
		names = append(names, g.name)
		for _, b := range g.bars {
			high = max(high, b.value, b.published)
		}
	}
	plt.Add(c)
	plt.NominalX(names...)
	for _, a := range []*plot.Axis{&plt.X, &plt.Y} {
		a.Tick.Label.Font, a.Padding = sans(labelSize), 0
	}
	plt.X.Min, plt.X.Max = -0.5, float64(len(names))-0.5
	plt.Y.Min, plt.Y.Max = 0, 1.1*high
	return plt
}

// Plot implements [plot.Plotter].
func (c *chart) Plot(on draw.Canvas, plt *plot.Plot) {
	x, y := plt.Transforms(&on)
	for k, g := range c.groups {
		width := groupWidth / float64(max(len(g.bars), 1))
		left := float64(k) - groupWidth/2
		for i, b := range g.bars {
			if b.value == 0 {
				continue
			}
			middle := left + (float64(i)+0.5)*width
			from, to := x(middle-0.47*width), x(middle+0.47*width)
			on.FillPolygon(seriesColor(i), rectangle(from, y(0), to, y(b.value)))
			above := vg.Point{X: x(middle), Y: y(b.value) + vg.Points(1)}
			on.FillText(textStyle(textSize, draw.XCenter, draw.YBottom), above, figure(b.value))
			if b.published > 0 {
				on.StrokeLine2(publishedStyle(), from, y(b.published), to, y(b.published))
			}
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

func publishedStyle() draw.LineStyle {
	return draw.LineStyle{Color: color.Gray{Y: 60}, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
}
