package bench

import (
	"fmt"
	"io"
	"slices"
)

// PlanReport is the result of comparing planners.
type PlanReport struct {
	Nodes int         `json:"nodes"`
	Seed  uint64      `json:"seed"`
	Cases []*PlanCase `json:"cases"`
}

// links names the links of a case.
func (c *PlanCase) links() string {
	if c.Symmetric {
		return c.Model
	}
	return c.Model + ", asymmetric"
}

// WriteTable writes the report as a table.
func (r *PlanReport) WriteTable(out io.Writer) error {
	fmt.Fprintf(out, "a tree of switches with %d hosts, %s; sums of rates relative to flat\n",
		r.Nodes, runs(len(r.Cases[0].Results[0].Relative)))
	t := newTable(out, "links", "hosts", "algorithm", "sum", "of min-cuts")
	for _, c := range r.Cases {
		for _, p := range c.Results {
			of := figure(p.Mean)
			if len(p.Relative) > 1 {
				of = fmt.Sprintf("%s (%s-%s)", of, figure(slices.Min(p.Relative)), figure(slices.Max(p.Relative)))
			}
			t.row(c.links(), fmt.Sprint(c.Destinations), p.Algorithm, of, fmt.Sprintf("%.2f", p.OfCuts))
		}
	}
	return t.w.Flush()
}

func runs(n int) string {
	if n == 1 {
		return "one run"
	}
	return fmt.Sprintf("means of %d runs (lowest-highest)", n)
}

// Means returns the means relative to flat by algorithm, links and destinations, such as "stable mixed 399". All runs have the
// mean as their rate.
func (r *PlanReport) Means() *Report {
	if r == nil {
		return nil
	}
	all := new(Report)
	for _, c := range r.Cases {
		for _, res := range c.Results {
			for range res.Relative {
				all.Add(fmt.Sprintf("%s %s %d", res.Algorithm, c.links(), c.Destinations), &Run{Rate: res.Mean})
			}
		}
	}
	return all
}
