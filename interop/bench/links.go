package bench

import (
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// link is one direction between two clusters, or from a node, such as A3, through its
// NIC into its cluster.
type link struct{ from, to string }

// sample is what every link had carried since the grid was made, at a time from
// the start of the fetching.
type sample struct {
	at      time.Duration
	carried map[link]netns.Count
}

// LinkReport says how well a link was used, and where time was lost: in the start,
// until nine tenths of what TCP can carry were first reached on it; in the end,
// after the first cluster was whole; or between.
type LinkReport struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes uint64 `json:"bytes"`
	// Frames is in how many pieces, each with headers.
	Frames uint64 `json:"frames"`
	// Share is the bytes by what the link could carry, all headers included.
	Share float64 `json:"share"`
	// Idle is in seconds of the link at its full TCP rate.
	Idle Phases `json:"idle_s"`
}

// Headers is the part of the bytes that are headers of frames.
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

// Use is the part of all links' rates that was used about a time, in seconds from
// the start of the fetching.
type Use struct {
	At    float64 `json:"at_s"`
	Share float64 `json:"share"`
}

// busy is the part of a link's TCP rate at which its start is over.
const busy = 0.9

// linkReports evaluates samples. End is when the first cluster was whole, or the first
// receiver of a single one. There is nothing to tell when no link is watched.
func (c *Case) linkReports(samples []sample, end time.Duration) ([]LinkReport, []Use) {
	var reports []LinkReport
	var use []Use
	started := map[link]bool{}
	links := c.watched()
	if len(links) == 0 {
		return nil, nil
	}
	reports = make([]LinkReport, len(links))
	room := make([]float64, len(links))
	for i, l := range links {
		reports[i].From, reports[i].To = l.from, l.to
	}
	for k := 1; k < len(samples); k++ {
		from, to := samples[k-1], samples[k]
		took := (to.at - from.at).Seconds()
		if took <= 0 {
			continue
		}
		could := c.couldCarry(from.at, to.at, links)
		var carried, all float64
		for i, l := range links {
			r := &reports[i]
			n := to.carried[l].Sub(from.carried[l])
			full := float64(n.Bytes) / (could[i] * netns.TCPShare)
			started[l] = started[l] || full >= busy
			r.Idle.add(phase((from.at+to.at)/2, end, started[l]), (1-full)*took)
			r.Bytes += n.Bytes
			r.Frames += n.Frames
			room[i] += could[i]
			carried, all = carried+float64(n.Bytes), all+could[i]
		}
		use = append(use, Use{(from.at + to.at).Seconds() / 2, carried / all})
	}
	for i := range reports {
		r := &reports[i]
		if room[i] > 0 {
			r.Share = float64(r.Bytes) / room[i]
		}
		// A queue may hand over in one interval what came in the one before, and a
		// phase that is short then shows less than nothing.
		r.Idle = Phases{max(r.Idle.Start, 0), max(r.Idle.Middle, 0), max(r.Idle.End, 0)}
	}
	return reports, use
}

// watched are the links that may be what limits a case: those into every cluster but
// the source's, and of a single cluster the NICs through which its nodes send, if
// they have a rate.
func (c *Case) watched() []link {
	var all []link
	if one := c.Clusters[0]; len(c.Clusters) == 1 {
		for i := range one.Nodes {
			if one.NodeNIC(i) > 0 {
				all = append(all, link{Receiver{one.Name, i}.String(), one.Name})
			}
		}
		return all
	}
	for _, from := range c.Names() {
		for _, to := range c.Names()[1:] {
			if from != to {
				all = append(all, link{from, to})
			}
		}
	}
	return all
}

// couldCarry is how many bytes each link had room for between two times.
func (c *Case) couldCarry(from, to time.Duration, links []link) []float64 {
	could := make([]float64, len(links))
	for from < to {
		rates, until := c.Scenario.Rates(from)
		until = min(until, to)
		for i, l := range links {
			could[i] += float64(c.rate(l, rates)) * (until - from).Seconds()
		}
		from = until
	}
	return could
}

// rate is that of one of the watched links, while links between clusters have these.
func (c *Case) rate(l link, between netns.Links) netns.Rate {
	if n, err := ParseReceiver(l.from); err == nil && len(c.Clusters) == 1 {
		return c.Clusters[0].NodeNIC(n.Index)
	}
	return between.Rate(l.from, l.to)
}

// phases of a transfer for a link.
const (
	inStart = iota
	inMiddle
	inEnd
)

func phase(at, end time.Duration, started bool) int {
	switch {
	case at >= end:
		return inEnd
	case started:
		return inMiddle
	}
	return inStart
}

func (p *Phases) add(phase int, seconds float64) {
	switch phase {
	case inStart:
		p.Start += seconds
	case inMiddle:
		p.Middle += seconds
	case inEnd:
		p.End += seconds
	}
}

// total adds the phases of all links up.
func total(links []LinkReport) Phases {
	var sum Phases
	for _, l := range links {
		sum.Start, sum.Middle, sum.End = sum.Start+l.Idle.Start, sum.Middle+l.Idle.Middle, sum.End+l.Idle.End
	}
	return sum
}
