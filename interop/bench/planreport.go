package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
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

// WriteSVG draws the sum of rates relative to flat by the number of destinations: a panel for each
// model, first with symmetric links and then with asymmetric ones.
func (r *PlanReport) WriteSVG(out io.Writer) error {
	c := chart{title: fmt.Sprintf("sum of rates relative to flat, %d hosts, %d runs", r.Nodes, len(r.Cases[0].Results[0].Relative))}
	for _, of := range r.Cases {
		i := slices.IndexFunc(c.panels, func(p *panel) bool { return p.title == of.links() })
		if i < 0 {
			i = len(c.panels)
			c.panels = append(c.panels, &panel{title: of.links()})
		}
		for k, p := range of.Results {
			if k == len(c.series) {
				c.series = append(c.series, p.Algorithm)
			}
			// The spread is that of the links that were drawn, and would hide the differences.
			c.panels[i].add(fmt.Sprintf("%d destinations", of.Destinations), k, &bar{value: p.Mean, text: figure(p.Mean)})
		}
	}
	return c.write(out)
}
