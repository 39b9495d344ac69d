package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// gridReceipt is what a transfer over a grid has cost.
type gridReceipt struct {
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
	// WANCopies is how often the content came over the WAN: FromWAN by its size.
	WANCopies float64 `json:"wan_copies"`
	Intact    int     `json:"intact"`
}

// compare hashes every copy and makes the receipt.
func (gr *grid) compare(ctx context.Context, c randomContent, took time.Duration) (gridReceipt, error) {
	r := gridReceipt{Bytes: c.length, Seconds: took.Seconds(), Nodes: len(gr.nodes)}
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
	for _, s := range gr.frame().clusters {
		r.Clusters = append(r.Clusters, clusterReceipt{Name: s.name, Nodes: len(s.nodes), FromWAN: s.fromWAN, FromLAN: s.fromLAN,
			WANCopies: float64(s.fromWAN) / float64(c.length), Intact: intact[s.name]})
	}
	return r, nil
}

// verdict is an error when a copy is not intact.
func (r gridReceipt) verdict() error {
	if r.Intact == r.Nodes {
		return nil
	}
	return fmt.Errorf("%d of %d copies are not intact", r.Nodes-r.Intact, r.Nodes)
}

func (r gridReceipt) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "cluster\tnodes\tfrom WAN\tfrom LAN\tWAN copies\tintact\t")
	for _, c := range r.Clusters {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.2f\t%d of %d\t\n", c.Name, c.Nodes, size(c.FromWAN), size(c.FromLAN), c.WANCopies, c.Intact, c.Nodes)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	took := time.Duration(r.Seconds * float64(time.Second))
	_, err := fmt.Fprintf(out, "%d intact copies of %s in %s: %s delivered\n", r.Intact, size(r.Bytes), span(took),
		rate(average(r.Bytes*int64(r.Intact), took)))
	return err
}
