package demo

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/mobgrid/mob/cli/term"
)

// receipt is the cost of the transfer.
type receipt struct {
	Bytes    int64      `json:"bytes"`
	Seconds  float64    `json:"seconds"`
	Nodes    int        `json:"nodes"`
	Intact   int        `json:"intact"`
	Clusters []*cluster `json:"clusters"`
}

// receipt compares every copy with the content.
func (g *grid) receipt(ctx context.Context, took time.Duration) (receipt, error) {
	r := receipt{Bytes: g.length, Seconds: took.Seconds(), Nodes: len(g.nodes), Clusters: g.frame().clusters}
	for i, n := range g.nodes {
		intact, err := g.intact(ctx, n)
		if err != nil {
			return r, err
		}
		if intact {
			r.Clusters[i*len(r.Clusters)/len(g.nodes)].Intact++
			r.Intact++
		}
	}
	return r, nil
}

// print writes the receipt for people.
func (r receipt) print(out term.TextWriter) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "cluster\tnodes\tfrom WAN\tfrom LAN\tWAN copies\tintact\t")
	for _, c := range r.Clusters {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.2f\t%d of %d\t\n",
			c.Name, c.Nodes, term.Bytes(c.FromWAN), term.Bytes(c.FromLAN), c.WANCopies, c.Intact, c.Nodes)
	}
	_ = w.Flush() // out keeps the error
	took := time.Duration(r.Seconds * float64(time.Second))
	out.Line("%d intact copies of %s in %s: %s delivered", r.Intact, term.Bytes(r.Bytes),
		term.Duration(took), term.Rate(term.Average(r.Bytes*int64(r.Intact), took)))
}
