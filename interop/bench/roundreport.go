package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// RoundReport is the result of simulations in rounds.
type RoundReport struct {
	// Blocks is the number of blocks in each of Batches.
	Blocks  int          `json:"blocks"`
	Batches int          `json:"batches"`
	Cases   []*RoundCase `json:"cases"`
}

// WriteJSON writes the report as JSON.
func (r *RoundReport) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteTable writes the report as a table.
func (r *RoundReport) WriteTable(out io.Writer) error {
	fmt.Fprintf(out, "one homogeneous cluster, k = %d blocks", r.Blocks*r.Batches)
	if r.Batches > 1 {
		fmt.Fprintf(out, " in %d batches", r.Batches)
	}
	fmt.Fprintln(out, ", a block a round each way")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "strategy\tnodes\tk+log2 n\trounds\tbeyond\tuseless\t")
	for _, c := range r.Cases {
		all := fmt.Sprint(c.Median)
		if s := c.sorted(); len(s) > 1 {
			all = fmt.Sprintf("%d (%d-%d)", c.Median, s[0], s[len(s)-1])
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%.1f\t%.1f %%\t\n", c.Strategy, c.Nodes, c.Limit, all, c.Beyond, 100*c.Useless)
	}
	return w.Flush()
}

// WriteSVG draws the rounds beyond k + log2 n of each strategy by the number of nodes.
func (r *RoundReport) WriteSVG(out io.Writer) error {
	title := fmt.Sprintf("%d blocks, %d runs: rounds beyond k + log2 n", r.Blocks*r.Batches, len(r.Cases[0].Rounds))
	p := &panel{}
	c := chart{title: title, panels: []*panel{p}}
	for _, of := range r.Cases {
		i := slices.Index(c.series, of.Strategy)
		if i < 0 {
			i = len(c.series)
			c.series = append(c.series, of.Strategy)
		}
		all := of.sorted()
		p.add(fmt.Sprintf("%d nodes", of.Nodes), i, &bar{
			value: of.Beyond, low: float64(all[0] - of.Limit), high: float64(all[len(all)-1] - of.Limit), text: fmt.Sprintf("%.1f", of.Beyond),
		})
	}
	return c.write(out)
}
