package bench

import (
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// link is one direction between two clusters, between a rack, such as A/r1, and its
// cluster, or from a node, such as A3, through its NIC to its cluster.
type link struct{ from, to string }

// sample is the counters of all links at a time from the start of the fetching.
type sample struct {
	at      time.Duration
	carried map[link]netns.Count
}

// LinkReport says how well a link was used, and when it was idle: in the start, until nine
// tenths of TCP's maximum were first reached on it; in the end, after the first cluster was
// complete, or the first receiver in a single cluster; or midway.
type LinkReport struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes uint64 `json:"bytes"`
	// Frames is the number of Ethernet frames.
	Frames uint64 `json:"frames"`
	// Share is Bytes, headers included, by the capacity of the link.
	Share float64 `json:"share"`
	// Idle is in seconds at the full TCP rate of the link.
	Idle Phases `json:"idle_s"`
}

// Headers is the part of the bytes that are frame headers.
func (l *LinkReport) Headers() float64 {
	c := netns.Count{Bytes: l.Bytes, Frames: l.Frames}
	return float64(c.Headers()) / max(float64(l.Bytes), 1)
}

// Phases are times in the three phases of a transfer.
type Phases struct {
	Start  float64 `json:"start"`
	Middle float64 `json:"middle"`
	End    float64 `json:"end"`
}

// Use is the part of the capacity of all links that was used about a time, in seconds from
// the start of the fetching.
type Use struct {
	At    float64 `json:"at_s"`
	Share float64 `json:"share"`
}

// busy is the part of a link's TCP rate at which its start is over.
const busy = 0.9

// linkReports evaluates the samples of links, if there are any. end is when the phase End
// begins.
func (c *Case) linkReports(samples []sample, links []watchedLink, end time.Duration) ([]LinkReport, []Use) {
	if len(links) == 0 {
		return nil, nil
	}
	var use []Use
	started := make([]bool, len(links))
	reports := make([]LinkReport, len(links))
	capacity := make([]float64, len(links))
	for i, l := range links {
		reports[i].From, reports[i].To = l.from, l.to
	}
	for k := 1; k < len(samples); k++ {
		from, to := samples[k-1], samples[k]
		took := (to.at - from.at).Seconds()
		if took <= 0 {
			continue
		}
		could := c.capacities(from.at, to.at, links)
		var carried, all float64
		for i, l := range links {
			r := &reports[i]
			n := to.carried[l.link].Sub(from.carried[l.link])
			full := float64(n.Bytes) / (could[i] * netns.TCPShare)
			started[i] = started[i] || full >= busy
			*r.Idle.in((from.at+to.at)/2, end, started[i]) += (1 - full) * took
			r.Bytes += n.Bytes
			r.Frames += n.Frames
			capacity[i] += could[i]
			carried += float64(n.Bytes)
			all += could[i]
		}
		use = append(use, Use{(from.at + to.at).Seconds() / 2, carried / all})
	}
	for i := range reports {
		r := &reports[i]
		if capacity[i] > 0 {
			r.Share = float64(r.Bytes) / capacity[i]
		}
		// A queue may deliver frames of the interval before, so a short
		// phase may seem to be idle for less than no time.
		r.Idle = Phases{max(r.Idle.Start, 0), max(r.Idle.Middle, 0), max(r.Idle.End, 0)}
	}
	return reports, use
}

// watchedLink is a link that can be a bottleneck.
type watchedLink struct {
	link
	// rate is the link's rate while links between clusters have the given ones.
	rate func(between netns.Links) netns.Rate
}

// watchedLinks lists the links into every cluster but the source's, or in a single cluster
// the NICs that have a rate.
func (c *Case) watchedLinks() []watchedLink {
	var all []watchedLink
	if c.single() {
		cl := c.Clusters[0]
		for i := range cl.Nodes {
			if r := cl.NodeNIC(i); r > 0 {
				nic := link{Receiver{cl.Name, i}.String(), cl.Name}
				all = append(all, watchedLink{nic, func(netns.Links) netns.Rate { return r }})
			}
		}
		return all
	}
	for _, from := range c.Names() {
		for _, to := range c.Names()[1:] {
			if from != to {
				all = append(all, watchedLink{link{from, to}, func(between netns.Links) netns.Rate { return between.Rate(from, to) }})
			}
		}
	}
	return all
}

// uplinks lists the uplinks of racks, if they have a rate, in both directions.
func (c *Case) uplinks() []watchedLink {
	var all []watchedLink
	for _, cl := range c.Clusters {
		if cl.Uplink == 0 {
			continue
		}
		rate := func(netns.Links) netns.Rate { return cl.Uplink }
		for r := range cl.Racks {
			all = append(all, watchedLink{link{cl.Name, cl.RackName(r)}, rate}, watchedLink{link{cl.RackName(r), cl.Name}, rate})
		}
	}
	return all
}

// capacities is the number of bytes that each link could carry between two times.
func (c *Case) capacities(from, to time.Duration, links []watchedLink) []float64 {
	all := make([]float64, len(links))
	for from < to {
		rates, until := c.Scenario(from)
		until = min(until, to)
		for i, l := range links {
			all[i] += float64(l.rate(rates)) * (until - from).Seconds()
		}
		from = until
	}
	return all
}

// in is the phase at a time. end is when the phase End starts.
func (p *Phases) in(at, end time.Duration, started bool) *float64 {
	switch {
	case at >= end:
		return &p.End
	case started:
		return &p.Middle
	}
	return &p.Start
}
