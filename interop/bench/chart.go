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

// The sizes of pictures, and of their texts.
const (
	chartWidth, chartHeight = 25 * vg.Centimeter, 11 * vg.Centimeter
	chartMargin             = 0.5 * vg.Centimeter
	titleSize               = 12
	labelSize               = 10
)

// seriesColor is the colour of the i-th series, from the palette of Okabe and Ito, which
// colour-blind people can tell apart, and grey.
func seriesColor(i int) color.Color {
	all := []color.RGBA{
		{0, 114, 178, 255}, {230, 159, 0, 255}, {0, 158, 115, 255},
		{204, 121, 167, 255}, {86, 180, 233, 255}, {213, 94, 0, 255},
		{0, 0, 0, 255}, {240, 228, 66, 255}, {140, 140, 140, 255},
	}
	return all[i%len(all)]
}

// WriteSVG draws the report: the share of the bound that each system reached, and how it used
// the links over time.
func (r *Report) WriteSVG(w io.Writer) error {
	share, err := sharePanel(r)
	if err != nil {
		return err
	}
	time, err := timePanel(r)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(chartWidth, chartHeight)
	page := newPage(canvas, fmt.Sprintf("%s, %s", r.Case, megabytes(float64(r.Bytes))))
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: 2 * chartMargin}
	panels := [][]*plot.Plot{{share, time}}
	for i, part := range plot.Align(panels, tiles, page)[0] {
		panels[0][i].Draw(part)
	}
	return encodeSVG(w, canvas)
}

// newPage makes a white page with a title, and returns the rest of it.
func newPage(canvas *vgsvg.Canvas, text string) draw.Canvas {
	page := draw.New(canvas)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	drawTitle(page, text)
	return draw.Crop(page, chartMargin, -chartMargin, chartMargin, -3*chartMargin)
}

// encodeSVG writes a canvas as SVG.
func encodeSVG(w io.Writer, canvas *vgsvg.Canvas) error {
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Readers that lack the font have one with letters of the same widths.
	const family = "font-family:Liberation Sans"
	text := bytes.ReplaceAll(svg.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif"))
	_, err := w.Write(text)
	return err
}

// drawTitle writes the title of a page.
func drawTitle(page draw.Canvas, text string) {
	style := plot.New().Title.TextStyle
	style.Font = sans(titleSize)
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	page.FillText(style, vg.Point{X: page.Center().X, Y: page.Max.Y - chartMargin}, text)
}

func sans(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// newPanel is an empty panel with a vertical axis from 0 to 1.
func newPanel(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = chartMargin / 2
	p.Title.TextStyle.Font = sans(labelSize)
	styleAxes(p)
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = plot.ConstantTicks{
		{Value: 0, Label: "0"},
		{Value: 0.25},
		{Value: 0.5, Label: "0.5"},
		{Value: 0.75},
		{Value: 1, Label: "1"},
	}
	return p
}

func styleAxes(p *plot.Plot) {
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(labelSize), sans(labelSize)
		a.Padding = 0
	}
}
