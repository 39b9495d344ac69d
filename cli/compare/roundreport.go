package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/mobgrid/mob/interop/bench/chart"
	"github.com/mobgrid/mob/mob/sim/rounds"
)

// roundReport is what a simulation in rounds came to.
type roundReport struct {
	// Blocks is how many a batch has, of Batches.
	Blocks  int         `json:"blocks"`
	Batches int         `json:"batches"`
	Cases   []roundCase `json:"cases"`
}

// roundCase is the runs of a strategy in a cluster of some size.
type roundCase struct {
	cfg      rounds.Config
	Strategy string `json:"strategy"`
	Nodes    int    `json:"nodes"`
	// Limit is k + ceil(log2 n), in rounds.
	Limit int `json:"limit"`
	// Rounds are those of the runs until the last node had everything, in the order
	// of their seeds, and Median is the one in the middle.
	Rounds []int `json:"rounds"`
	Median int   `json:"median"`
	// Beyond is how many more than Limit they are, on average.
	Beyond float64 `json:"beyond_limit"`
	// Useless is the share of blocks that gave their receiver nothing.
	Useless       float64 `json:"useless_share"`
	sent, useless int
}

// add puts a run into the case.
func (c *roundCase) add(r *rounds.Report) {
	c.Nodes, c.Limit = c.cfg.Nodes, rounds.Limit(sum(c.cfg.Batches), c.cfg.Nodes)
	c.Rounds = append(c.Rounds, r.Rounds())
	c.Median = c.sorted()[(len(c.Rounds)-1)/2]
	c.Beyond = float64(sum(c.Rounds))/float64(len(c.Rounds)) - float64(c.Limit)
	c.sent += r.Sent
	c.useless += r.Useless
	c.Useless = float64(c.useless) / float64(c.sent)
}

func (c *roundCase) sorted() []int { return slices.Sorted(slices.Values(c.Rounds)) }

func sum(vs []int) int {
	s := 0
	for _, v := range vs {
		s += v
	}
	return s
}

// writeJSON writes all of the report.
func (r *roundReport) writeJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeTable writes the report for people.
func (r *roundReport) writeTable(out io.Writer) error {
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

// writeSVG draws how many rounds beyond k + log2 n each strategy takes, by the
// number of nodes.
func (r *roundReport) writeSVG(out io.Writer) error {
	l := chart.Lines{
		Title: fmt.Sprintf("%d blocks, %d runs", r.Blocks*r.Batches, len(r.Cases[0].Rounds)), X: "nodes", Y: "rounds beyond k + log2 n",
	}
	for _, c := range r.Cases {
		i := slices.IndexFunc(l.Series, func(s chart.Series) bool { return s.Name == c.Strategy })
		if i < 0 {
			i = len(l.Series)
			l.Series = append(l.Series, chart.Series{Name: c.Strategy})
		}
		all := c.sorted()
		l.Series[i].Points = append(l.Series[i].Points, chart.Point{
			X: float64(c.Nodes), Y: c.Beyond, Low: float64(all[0] - c.Limit), High: float64(all[len(all)-1] - c.Limit),
		})
	}
	return l.SVG(out)
}
