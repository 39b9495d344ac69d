package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// link is one direction between two clusters, between a rack, such as A/r1, and its
// cluster, or from a node, such as A3, through its NIC to its cluster.
type link struct{ from, to string }

// LinkReport is the traffic of a link.
type LinkReport struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes uint64 `json:"bytes"`
	// Frames is the number of Ethernet frames.
	Frames uint64 `json:"frames"`
	// Share is Bytes, headers included, by the capacity of the link.
	Share float64 `json:"share"`
}

// Headers is the part of the bytes that are frame headers.
func (l *LinkReport) Headers() float64 {
	c := netns.Count{Bytes: l.Bytes, Frames: l.Frames}
	return float64(c.Headers()) / max(float64(l.Bytes), 1)
}

// linkReports reports what links carried between two readings of their counters, the first of them at the start of the
// fetching and took before the second.
func (c *Case) linkReports(before, after map[link]netns.Count, took time.Duration) (all []LinkReport) {
	for _, l := range c.watchedLinks() {
		n := after[l.link].Sub(before[l.link])
		all = append(all, LinkReport{l.from, l.to, n.Bytes, n.Frames, float64(n.Bytes) / c.capacity(l, took)})
	}
	return all
}

// capacity is the number of bytes that a link could carry until a time.
func (c *Case) capacity(l watchedLink, until time.Duration) (sum float64) {
	for at := time.Duration(0); at < until; {
		rates, next := c.Scenario(at)
		next = min(next, until)
		sum += float64(cmp.Or(l.rate, rates.Rate(l.from, l.to))) * (next - at).Seconds()
		at = next
	}
	return sum
}

// watchedLink is a link that can be a bottleneck.
type watchedLink struct {
	link
	rate netns.Rate // zero: of the scenario
}

// watchedLinks lists the links into every cluster but the source's, or in a single cluster
// the NICs that have a rate, and then the uplinks of racks that have a rate, in both directions.
func (c *Case) watchedLinks() (all []watchedLink) {
	add := func(from, to string, rate netns.Rate) {
		if rate > 0 {
			all = append(all, watchedLink{link{from, to}, rate})
		}
	}
	if cl := c.Clusters[0]; c.single() {
		for i := range cl.Nodes {
			add(Receiver{cl.Name, i}.String(), cl.Name, cl.NodeNIC(i))
		}
	}
	for _, from := range c.Names() {
		for _, to := range c.Names()[1:] {
			if from != to {
				all = append(all, watchedLink{link: link{from, to}})
			}
		}
	}
	for _, cl := range c.Clusters {
		for r := range cl.Racks {
			add(cl.Name, cl.RackName(r), cl.Uplink)
			add(cl.RackName(r), cl.Name, cl.Uplink)
		}
	}
	return all
}

// WriteLinks writes a table of the links of each system's median run.
func (r *Report) WriteLinks(out io.Writer) error {
	var errs []error
	for i := range r.Results {
		run := r.Results[i].Median()
		if len(run.Links) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s:\n", r.Results[i].System)
		t := newTable(out, "link", "carried", "headers", "of rate")
		for _, l := range run.Links {
			t.row(l.From+"-"+l.To, megabytes(float64(l.Bytes)), fmt.Sprintf("%.1f %%", 100*l.Headers()), fmt.Sprintf("%.2f", l.Share))
		}
		errs = append(errs, t.w.Flush())
	}
	return errors.Join(errs...)
}
