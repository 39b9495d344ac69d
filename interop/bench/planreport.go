package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// PlanReport is the result of comparing planners.
type PlanReport struct {
	Nodes int         `json:"nodes"`
	Seed  uint64      `json:"seed"`
	Cases []*PlanCase `json:"cases"`
}

// WriteJSON writes the report as JSON.
func (r *PlanReport) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// links names the links of a case.
func (c *PlanCase) links() string {
	if c.Symmetric {
		return c.Model
	}
	return c.Model + ", asymmetric"
}

// WriteTable writes the report as a table for each model.
func (r *PlanReport) WriteTable(out io.Writer) error {
	fmt.Fprintf(out, "a tree of switches with %d hosts, %s; sums of rates relative to flat\n",
		r.Nodes, runs(len(r.Cases[0].Results[0].Relative)))
	for cases := r.Cases; len(cases) > 0; {
		last := slices.IndexFunc(cases, func(c *PlanCase) bool { return c.links() != cases[0].links() })
		if last < 0 {
			last = len(cases)
		}
		fmt.Fprintf(out, "\n%s\n", cases[0].links())
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "hosts\talgorithm\tsum\tof min-cuts\tlowest\tmedian\thighest\tplanned in\t")
		for _, c := range cases[:last] {
			c.writeRows(w)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		cases = cases[last:]
	}
	return nil
}

func (c *PlanCase) writeRows(w io.Writer) {
	for i, p := range c.Results {
		hosts := ""
		if i == 0 {
			hosts = fmt.Sprint(c.Destinations)
		}
		all := slices.Sorted(slices.Values(p.Relative))
		of := figure(p.Mean)
		if len(all) > 1 {
			of = fmt.Sprintf("%s (%s-%s)", of, figure(all[0]), figure(all[len(all)-1]))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%s\t%s\t%s MB/s\t%s ms\t\n", hosts, p.Algorithm, of, p.OfCuts,
			figure(p.Lowest/1e6), figure(p.Median/1e6), figure(p.Highest/1e6), figure(1000*p.PlanningSeconds))
	}
}

func runs(n int) string {
	if n == 1 {
		return "one run"
	}
	return fmt.Sprintf("means of %d runs (lowest-highest)", n)
}

// WriteSVG draws the sum of rates relative to flat over the number of destinations: a panel for
// each model, those with asymmetric links in a second row.
func (r *PlanReport) WriteSVG(out io.Writer) error {
	var rows [2][]*plot.Plot
	for _, symmetric := range []bool{true, false} {
		for _, model := range PlanModels() {
			p, err := r.panel(model, symmetric, rows[0] == nil)
			if err != nil {
				return err
			}
			if p != nil && symmetric {
				rows[0] = append(rows[0], p)
			} else if p != nil {
				rows[1] = append(rows[1], p)
			}
		}
	}
	panels := slices.DeleteFunc(rows[:], func(row []*plot.Plot) bool { return row == nil })
	canvas := vgsvg.New(chartWidth, vg.Length(len(panels))*0.8*chartHeight)
	page := newPage(canvas, fmt.Sprintf("sum of rates relative to flat, %d hosts, %d runs", r.Nodes, len(r.Cases[0].Results[0].Relative)))
	tiles := draw.Tiles{Rows: len(panels), Cols: len(panels[0]), PadX: chartMargin, PadY: chartMargin}
	for i, row := range plot.Align(panels, tiles, page) {
		for k, part := range row {
			panels[i][k].Draw(part)
		}
	}
	return encodeSVG(out, canvas)
}

// panel draws the cases of a model, nil if there are none.
func (r *PlanReport) panel(model string, symmetric, legend bool) (*plot.Plot, error) {
	l := lineChart{X: "destinations"}
	title := ""
	for _, c := range r.Cases {
		if c.Model != model || c.Symmetric != symmetric {
			continue
		}
		title = c.links()
		for i, p := range c.Results {
			if i == len(l.Series) {
				l.Series = append(l.Series, series{Name: p.Algorithm})
			}
			s := &l.Series[i]
			// The spread is that of the links that were drawn, and would hide the lines.
			s.Points = append(s.Points, point{X: float64(c.Destinations), Y: p.Mean, Low: p.Mean, High: p.Mean})
		}
	}
	if title == "" {
		return nil, nil
	}
	return l.panel(title, legend)
}
