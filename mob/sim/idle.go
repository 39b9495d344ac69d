package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
)

// Cause is why a link is idle.
type Cause int

// The causes, from the view of the receiving site.
const (
	// Sending: it is not idle.
	Sending Cause = iota
	// Done: its members have or have requested every piece.
	Done
	// Nothing: the sending site has no piece that is new to it.
	Nothing
	// Unasked: there is such a piece, and nobody has requested any.
	Unasked
	// Underway: a request, or a block, is in transit elsewhere.
	Underway
	// Sender: requested blocks wait for the sender's NIC.
	Sender
	causes
)

// String returns the name of the cause.
func (c Cause) String() string {
	return [causes]string{"sending", "done", "nothing new", "unasked", "under way", "sender"}[c]
}

// Idleness is the use of the links into one site over time.
type Idleness struct {
	To string
	// Bin is the length of each of Bins, which cover the run from its start.
	Bin  time.Duration
	Bins []Use
}

// Use is the bytes that the links can carry at their rates in a time, by Cause.
type Use [causes]float64

// Of is the share of a cause.
func (u Use) Of(c Cause) float64 {
	all := 0.0
	for _, v := range u {
		all += v
	}
	return u[c] / max(all, 1)
}

// String formats a table: a line for each bin, with the share of each cause.
func (i *Idleness) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "into %-7s", i.To)
	for c := range causes {
		fmt.Fprintf(&b, "%13s", c)
	}
	for k, use := range i.Bins {
		fmt.Fprintf(&b, "\n%10.2f s", (time.Duration(k) * i.Bin).Seconds())
		for c := range causes {
			fmt.Fprintf(&b, "%13.3f", use.Of(c))
		}
	}
	return b.String()
}

// survey samples all links, and finds out why idle ones are idle.
type survey struct {
	every time.Duration
	has   []*bitset.Set // by site: what its members have stored, killed ones too
	lacks *bitset.Set   // by the site that is sampled
	idle  []Idleness
}

// The bins and samples of a survey in the ideal time.
const surveyBins, surveySamples = 20, 1000

// startSurvey starts a survey.
func (s *sim) startSurvey() {
	pieces, ideal := s.nodes[0].store.has.Cap(), s.cfg.Ideal()
	v := &survey{every: max(ideal/surveySamples, time.Microsecond), lacks: bitset.New(pieces)}
	for _, name := range s.sites {
		v.idle = append(v.idle, Idleness{To: name, Bin: v.every * (surveySamples / surveyBins)})
		v.has = append(v.has, bitset.New(pieces))
	}
	v.has[0].AddRange(0, pieces)
	s.audit.survey = v
	s.later(0, call(func() { v.sample(s) }))
}

// stored notes that a member of a site has a piece.
func (v *survey) stored(site, piece int) {
	if v != nil {
		v.has[site].Add(piece)
	}
}

// sample takes a sample of every link, and schedules the next.
func (v *survey) sample(s *sim) {
	for to := 1; to < len(v.idle); to++ {
		asked, queued := v.requests(s, to)
		i := &v.idle[to]
		for int(s.now/i.Bin) >= len(i.Bins) {
			i.Bins = append(i.Bins, Use{})
		}
		use := &i.Bins[s.now/i.Bin]
		for from := range v.idle {
			if l := s.link(from, to); from != to && len(l.rate) > 0 {
				use[v.cause(s, from, to, asked[from], queued[from])] += l.rate.at(s.now) * v.every.Seconds()
			}
		}
	}
	s.later(s.now+v.every, call(func() { v.sample(s) }))
}

// requests counts the requests of a site's members, by the site of the receiver, and
// how many of them wait there; and sets lacks to what they lack and have not requested.
func (v *survey) requests(s *sim, to int) (asked, queued []int) {
	asked, queued = make([]int, len(v.idle)), make([]int, len(v.idle))
	v.lacks.Clear()
	v.lacks.AddRange(0, v.lacks.Cap())
	for i := range v.has[to].All() {
		v.lacks.Remove(i)
	}
	for _, n := range s.nodes {
		if n.site != to {
			queued[n.site] += n.waitingFor(to)
			continue
		}
		for piece, requests := range n.asked {
			for _, r := range requests {
				if r.peer.site != to {
					asked[r.peer.site]++
					v.lacks.Remove(int(piece))
				}
			}
		}
	}
	return asked, queued
}

func (v *survey) cause(s *sim, from, to, asked, queued int) Cause {
	switch {
	case s.link(from, to).free > s.now:
		return Sending
	case queued > 0:
		return Sender
	case asked > 0:
		return Underway
	case v.lacks.Len() == 0:
		return Done
	case v.lacks.Intersects(v.has[from]):
		return Unasked
	}
	return Nothing
}

// waitingFor counts the blocks for members of a site that are not sent yet.
func (n *node) waitingFor(site int) int {
	count := 0
	if n.sending != nil && n.sending.to.site == site {
		count++
	}
	for _, b := range n.queue.waiting {
		if b.blocks[0].to.site == site {
			count += len(b.blocks)
		}
	}
	return count
}
