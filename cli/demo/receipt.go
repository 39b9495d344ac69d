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
	Bytes    int64            `json:"bytes"`
	Seconds  float64          `json:"seconds"`
	Nodes    int              `json:"nodes"`
	Intact   int              `json:"intact"`
	Clusters []clusterReceipt `json:"clusters"`
}

// clusterReceipt is the part of one cluster.
type clusterReceipt struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`
	FromWAN int64  `json:"from_wan"`
	FromLAN int64  `json:"from_lan"`
	// WANCopies is FromWAN in sizes of the content.
	WANCopies float64 `json:"wan_copies"`
	Intact    int     `json:"intact"`
}

// receipt hashes every copy and compares it with the content.
func (g *grid) receipt(ctx context.Context, c content, took time.Duration) (receipt, error) {
	r := receipt{Bytes: c.length, Seconds: took.Seconds(), Nodes: len(g.nodes)}
	intact := map[string]int{}
	for _, n := range g.nodes {
		sum, err := hashFile(ctx, n.copy)
		if err != nil {
			return r, err
		}
		if sum == c.sum {
			intact[n.cluster]++
			r.Intact++
		}
	}
	for _, s := range g.frame().clusters {
		r.Clusters = append(r.Clusters, clusterReceipt{
			Name:      s.name,
			Nodes:     len(s.nodes),
			FromWAN:   s.fromWAN,
			FromLAN:   s.fromLAN,
			WANCopies: float64(s.fromWAN) / float64(c.length),
			Intact:    intact[s.name],
		})
	}
	return r, nil
}

// err is an error when a copy is damaged.
func (r receipt) err() error {
	if r.Intact == r.Nodes {
		return nil
	}
	return fmt.Errorf("%d of %d copies are damaged", r.Nodes-r.Intact, r.Nodes)
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
