package mob

import (
	"math"
	"time"
)

// inflow measures how fast a group gets pieces that none of its members had, as far as the node
// knows, and forgets with a time constant.
type inflow struct {
	// lacking is how many pieces no member of the group has.
	lacking int

	count       float64 // decayed: the pieces that came
	first, last time.Time
}

// inflowMemory is the time constant, in seconds.
const inflowMemory = 0.5

// add notes that the group has one more piece.
func (f *inflow) add(now time.Time) {
	if f.first.IsZero() {
		f.first = now
	}
	f.lacking--
	f.count = f.count*math.Exp(-now.Sub(f.last).Seconds()/inflowMemory) + 1
	f.last = now
}

// interval returns the seconds between two pieces, 0 while that is not known. It grows while
// no piece comes.
func (f *inflow) interval(now time.Time) float64 {
	if f.count == 0 || now.Sub(f.first).Seconds() < 2*inflowMemory {
		return 0
	}
	return max(inflowMemory/f.count, now.Sub(f.last).Seconds())
}

// tooLate reports whether a piece that is begun with a remote peer now would arrive after the time
// in which the group that it enters gets all that it lacks, at its present rate. Towards the end there are
// fewer pieces than links, and everybody would wait for a piece on a slow one. It is left to
// faster links. If none takes it, the cluster's rate falls until the piece is begun after all.
func (s *State) tooLate(p *peer) bool {
	into := &p.level.inflow
	interval, r := into.interval(s.now), p.pipe.Rate()
	if interval == 0 || r == 0 || p.level.seeds > 0 {
		return false
	}
	return float64(p.pipe.InFlight()+s.layout.Size)/r > float64(into.lacking)*interval
}
