package grid

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/mobgrid/mob/cli/format"
)

// Receipt is what a transfer over a grid has cost.
type Receipt struct {
	Bytes    int64            `json:"bytes"`
	Seconds  float64          `json:"seconds"`
	Nodes    int              `json:"nodes"`
	Intact   int              `json:"intact"`
	Clusters []ClusterReceipt `json:"clusters"`
}

// ClusterReceipt is the part of one cluster.
type ClusterReceipt struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`
	FromWAN int64  `json:"from_wan"`
	FromLAN int64  `json:"from_lan"`
	// WANCopies is how often the content came over the WAN: FromWAN by its size.
	WANCopies float64 `json:"wan_copies"`
	Intact    int     `json:"intact"`
}

// Compare hashes every copy and makes the receipt.
func (gr *Grid) Compare(ctx context.Context, c Content, took time.Duration) (Receipt, error) {
	r := Receipt{Bytes: c.length, Seconds: took.Seconds(), Nodes: len(gr.nodes)}
	intact := map[string]int{}
	for _, n := range gr.nodes {
		sum, err := hashFile(ctx, n.copy)
		if err != nil {
			return r, err
		}
		if sum == c.sum {
			intact[n.cluster]++
			r.Intact++
		}
	}
	for _, s := range gr.State().Clusters {
		r.Clusters = append(r.Clusters, ClusterReceipt{Name: s.Name, Nodes: len(s.Nodes), FromWAN: s.FromWAN, FromLAN: s.FromLAN,
			WANCopies: float64(s.FromWAN) / float64(c.length), Intact: intact[s.Name]})
	}
	return r, nil
}

// Verdict is an error when a copy is not intact.
func (r Receipt) Verdict() error {
	if r.Intact == r.Nodes {
		return nil
	}
	return fmt.Errorf("%d of %d copies are not intact", r.Nodes-r.Intact, r.Nodes)
}

// Print writes the receipt for people.
func (r Receipt) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "cluster\tnodes\tfrom WAN\tfrom LAN\tWAN copies\tintact\t")
	for _, c := range r.Clusters {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.2f\t%d of %d\t\n", c.Name, c.Nodes, format.Size(c.FromWAN), format.Size(c.FromLAN), c.WANCopies, c.Intact, c.Nodes)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	took := time.Duration(r.Seconds * float64(time.Second))
	_, err := fmt.Fprintf(out, "%d intact copies of %s in %s: %s delivered\n", r.Intact, format.Size(r.Bytes), format.Span(took),
		format.Rate(format.Average(r.Bytes*int64(r.Intact), took)))
	return err
}
