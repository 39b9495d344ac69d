package session

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/timer"
)

// PingPause returns the time between two pings to a peer. Pings that measure its round trips continuously are fewer
// on slow links: pace is the time between two batches there.
func (t *Table) PingPause(p *Peer, pace time.Duration) time.Duration {
	pause := t.Tuning.Dead / 3
	switch {
	case p.Measures():
		pause = max(t.Tuning.Queue, min(pingBatches*pace, t.Tuning.Stall/2))
	case p.AcrossLink() && p.Box.Subscribed.Len() > 0:
		pause = min(pause, 3*t.Tuning.Queue)
	case p.Pipe.Busy() || p.Near() && !t.Complete && t.Now.Sub(p.LastSeen) > t.Tuning.Stall/2:
		pause = min(pause, t.Tuning.Stall/2)
	}
	return max(pause, p.Pipe.RTT, 2*t.Site().ClaimDelay())
}

// Pace returns the least time between two batches to a peer of another site. On fast links Batch is longer.
func (t *Table) Pace() time.Duration {
	rate := 0.0
	for _, p := range t.Peers {
		if !p.Near() {
			rate += p.Pipe.Rate()
		}
	}
	if rate == 0 {
		return 0
	}
	return min(time.Duration(float64(paceBlocks*t.Tuning.MinBlock)/rate*float64(time.Second)), t.Tuning.Stall/3)
}

const (
	// paceBlocks is the number of least blocks that arrive over the WAN between two batches to a peer of
	// another site.
	paceBlocks = 4
	// pingBatches is the number of batches for each ping. A ping, its answer and their headers take about 250
	// bytes, and the blocks that arrive show the queue too.
	pingBatches = 6
)

// MeasureAnswers computes the answer time of a group: the median of the longest times that its peers
// take to answer. A mean would have every member wait for the claims of a single slow one.
func (t *Table) MeasureAnswers(l *Level) {
	var times []time.Duration
	for _, p := range t.Peers {
		if t := p.Pings.Most(); t > 0 && p.Shared > l.Index {
			times = append(times, t)
		}
	}
	slices.Sort(times)
	l.AnswerTime = times[(len(times)-1)/2]
}

// HealthInterval returns how long the node may leave its peers alone. When it is complete, and no
// peer is subscribed to anything, it only needs to know that they are alive.
func (t *Table) HealthInterval() time.Duration {
	if t.Complete && !slices.ContainsFunc(t.Peers, func(p *Peer) bool { return p.Box.Subscribed.Len() > 0 }) {
		return t.Tuning.Dead / 10
	}
	return t.Tuning.Queue / 2
}

// CheckSoon shortens a long health interval.
func (t *Table) CheckSoon() {
	t.Due.Sooner(timer.Health, t.Now.Add(t.Tuning.Queue/2))
}

// IsOverridden reports whether members have recently started pieces that the node claims: its claims
// do not count for them, and it would fetch these pieces a second time. Where there are several
// members it takes two, since one may only have been delayed. Members of other racks do not count: claims wait behind
// blocks on the way there.
func (t *Table) IsOverridden() bool {
	local, by := 0, 0
	for _, p := range t.Peers {
		if p.Local {
			local++
		}
		if t.Now.Sub(p.Overrode) < 2*t.Tuning.Stall {
			by++
		}
	}
	return by > 0 && by >= min(2, local)
}

// HoldsUp reports whether a parent is missing a piece that it is to send, and that another peer has.
func (t *Table) HoldsUp(m *assign.Member) bool {
	p := t.Joined[m.ID]
	if p.Pipe.Busy() {
		return false
	}
	checked := 0
	for i := range t.Wanted.All() {
		if !t.Work.From(m, i) || p.Have.Has(i) {
			continue
		}
		for _, q := range t.Peers {
			if q != p && q.Have.Has(i) {
				return true
			}
		}
		if checked++; checked >= maxHeldUp {
			return false
		}
	}
	return false
}

// maxHeldUp bounds the pieces that are checked for one parent.
const maxHeldUp = 64
