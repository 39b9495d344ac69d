package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
)

// Cause is why nothing is on a link.
type Cause int

// The causes, as the receiving cluster sees them.
const (
	// Sending is none: there are bytes on the link.
	Sending Cause = iota
	// Done: its members have every piece, or have asked for it.
	Done
	// Nothing: the cluster at the other end has no piece that is new to it.
	Nothing
	// Unasked: there is such a piece, and nobody has asked for any.
	Unasked
	// Underway: a request is on its way there, or a block behind the link.
	Underway
	// Sender: what was asked for waits for the sender's interface.
	Sender
	causes
)

// String is the cause's name.
func (c Cause) String() string {
	return [causes]string{"sending", "done", "nothing new", "unasked", "under way", "sender"}[c]
}

// Idleness is what the links into one cluster could have carried, and why they did not.
type Idleness struct {
	To string
	// Bin is how long each of Bins is; they cover the run from its begin.
	Bin  time.Duration
	Bins []Use
}

// Use is bytes by Cause: what the links could have carried at their rates in that time.
type Use [causes]float64

// Of is a cause's share of all.
func (u Use) Of(c Cause) float64 {
	all := 0.0
	for _, v := range u {
		all += v
	}
	return u[c] / max(all, 1)
}

// String is a table: a line for each bin, with the share of each cause.
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

// survey looks at all links now and again, and says why those are idle that are.
type survey struct {
	every time.Duration
	has   []*bitset.Set // by cluster: what members have stored, also those that were killed since
	lacks *bitset.Set   // by the cluster that is looked at
	idle  []Idleness
}

// How fine a survey is, in parts of the ideal time.
const surveyBins, surveySamples = 20, 1000

// startSurvey begins one.
func (s *sim) startSurvey() {
	pieces, ideal := s.nodes[0].store.has.Cap(), s.cfg.Ideal()
	v := &survey{every: max(ideal/surveySamples, time.Microsecond), lacks: bitset.New(pieces)}
	for _, c := range s.cfg.Clusters {
		v.idle = append(v.idle, Idleness{To: c.Name, Bin: v.every * (surveySamples / surveyBins)})
		v.has = append(v.has, bitset.New(pieces))
	}
	v.has[0].AddRange(0, pieces)
	s.audit.survey = v
	s.later(0, call(func() { v.look(s) }))
}

// stored notes that a member of a cluster has a piece.
func (v *survey) stored(cluster, piece int) {
	if v != nil {
		v.has[cluster].Add(piece)
	}
}

// look takes a sample of every link, and has itself called again.
func (v *survey) look(s *sim) {
	for to := 1; to < len(v.idle); to++ {
		asked, queued := v.requests(s, to)
		i := &v.idle[to]
		for int(s.now/i.Bin) >= len(i.Bins) {
			i.Bins = append(i.Bins, Use{})
		}
		use := &i.Bins[s.now/i.Bin]
		for from := range v.idle {
			if l := s.link(from, to); from != to && len(l.rate) > 0 {
				use[v.cause(s, from, to, asked[from], queued[from])] += l.rate.At(s.now) * v.every.Seconds()
			}
		}
	}
	s.later(s.now+v.every, call(func() { v.look(s) }))
}

// requests counts, by the cluster that was asked, what members of one have asked for, and
// how much of it waits there; and sets what they lack that was not asked for.
func (v *survey) requests(s *sim, to int) (asked, queued []int) {
	asked, queued = make([]int, len(v.idle)), make([]int, len(v.idle))
	v.lacks.Clear()
	v.lacks.AddRange(0, v.lacks.Cap())
	for i := range v.has[to].All() {
		v.lacks.Remove(i)
	}
	for _, n := range s.nodes {
		if n.cluster != to {
			queued[n.cluster] += n.waitingFor(to)
			continue
		}
		for piece, asks := range n.asked {
			for _, a := range asks {
				if a.peer.cluster != to {
					asked[a.peer.cluster]++
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

// waitingFor counts the blocks for members of a cluster that have not left.
func (n *node) waitingFor(cluster int) int {
	count := 0
	if n.sending != nil && n.sending.to.cluster == cluster {
		count++
	}
	for _, b := range n.queue.waiting {
		if b.blocks[0].to.cluster == cluster {
			count += len(b.blocks)
		}
	}
	return count
}
