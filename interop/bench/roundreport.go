package bench

import (
	"fmt"
	"io"
)

// RoundReport is the result of simulations in rounds.
type RoundReport struct {
	// Blocks is the number of blocks in each of Batches.
	Blocks  int          `json:"blocks"`
	Batches int          `json:"batches"`
	Cases   []*RoundCase `json:"cases"`
}

// WriteTable writes the report as a table.
func (r *RoundReport) WriteTable(out io.Writer) error {
	fmt.Fprintf(out, "one homogeneous cluster, k = %d blocks", r.Blocks*r.Batches)
	if r.Batches > 1 {
		fmt.Fprintf(out, " in %d batches", r.Batches)
	}
	fmt.Fprintln(out, ", a block a round each way")
	t := newTable(out, "strategy", "nodes", "k+log2 n", "rounds", "beyond", "useless")
	for _, c := range r.Cases {
		all := fmt.Sprint(c.Median)
		if s := c.sorted(); len(s) > 1 {
			all = fmt.Sprintf("%d (%d-%d)", c.Median, s[0], s[len(s)-1])
		}
		t.row(c.Strategy, fmt.Sprint(c.Nodes), fmt.Sprint(c.Limit), all, fmt.Sprintf("%.1f", c.Beyond), fmt.Sprintf("%.1f %%", 100*c.Useless))
	}
	return t.w.Flush()
}

// Medians returns rates by strategy and nodes, such as "rb 20": a run's rate is 1 by its number of rounds. "bound 20" is the
// rate of the limit.
func (r *RoundReport) Medians() *Report {
	if r == nil {
		return nil
	}
	all := new(Report)
	for _, c := range r.Cases {
		for _, rounds := range c.Rounds {
			all.Add(fmt.Sprintf("%s %d", c.Strategy, c.Nodes), &Run{Rate: 1 / float64(rounds)})
		}
		if bound := fmt.Sprintf("bound %d", c.Nodes); all.Result(bound) == nil {
			all.Add(bound, &Run{Rate: 1 / float64(c.Limit)})
		}
	}
	return all
}
