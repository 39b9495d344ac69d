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
		t := newTable(out, "hosts", "algorithm", "sum", "of min-cuts", "lowest", "median", "highest", "planned in")
		for _, c := range cases[:last] {
			c.addRows(t)
		}
		if err := t.w.Flush(); err != nil {
			return err
		}
		cases = cases[last:]
	}
	return nil
}

func (c *PlanCase) addRows(t table) {
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
		t.row(hosts, p.Algorithm, of, fmt.Sprintf("%.2f", p.OfCuts),
			figure(p.Lowest/1e6), figure(p.Median/1e6), figure(p.Highest/1e6)+" MB/s", figure(1000*p.PlanningSeconds)+" ms")
	}
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
