package mob

import (
	"math"
	"time"
)

// Towards the end there are fewer pieces than links. One that is begun on a slow
// link then comes when all others are there, and everybody waits for it.

// tooLate says whether a piece that is begun with a global peer now would come
// after the time in which the cluster gets all that it lacks, at its present
// rate: quicker links are to take it. When none does, the cluster's rate falls
// until the piece is begun after all.
func (s *State) tooLate(p *peer) bool {
	pause, r := s.inflow.pause(s.now), p.meter.Rate()
	if pause == 0 || r == 0 {
		return false
	}
	return float64(p.outBytes+s.cfg.PieceLength)/r > float64(s.inflow.lacking)*pause
}

// inflow measures how quickly pieces come that nobody of the cluster had, as far
// as the node knows, forgetting with a time constant.
type inflow struct {
	lacking     int     // pieces that nobody of the cluster has
	count       float64 // decayed: those that came
	first, last time.Time
}

// inflowMemory is the time constant, in seconds.
const inflowMemory = 0.5

// came notes that the cluster has one more piece.
func (f *inflow) came(now time.Time) {
	if f.first.IsZero() {
		f.first = now
	}
	f.lacking--
	f.count = f.count*math.Exp(-now.Sub(f.last).Seconds()/inflowMemory) + 1
	f.last = now
}

// pause is the time between two pieces, in seconds, 0 while it is not known. No
// piece for longer is a longer pause.
func (f *inflow) pause(now time.Time) float64 {
	if f.count == 0 || now.Sub(f.first).Seconds() < 2*inflowMemory {
		return 0
	}
	return max(inflowMemory/f.count, now.Sub(f.last).Seconds())
}

// came notes a piece that nobody of the cluster had. Of a generation that are k blocks.
func (s *State) came(i int) {
	if s.coding.coded() {
		g := s.coding.at(i)
		if g == nil || g.came >= g.blocks {
			return
		}
		g.came++
	}
	s.inflow.came(s.now)
}
