package mob

// Towards the end there are fewer pieces than links. One that is begun on a slow
// link then comes when all others are there, and everybody waits for it.

// tooLate says whether a piece that is begun with a global peer now would come
// after the time in which the cluster gets all that it lacks, at its present
// rate: quicker links are to take it. When none does, the cluster's rate falls
// until the piece is begun after all.
func (s *State) tooLate(p *peer) bool {
	pause, r := s.inflow.interval(s.now), p.meter.rate()
	if pause == 0 || r == 0 {
		return false
	}
	return float64(p.inFlight+s.layout.Size)/r > float64(s.inflow.lacking)*pause
}

// gained notes a number that no member of the cluster had.
func (s *State) gained(i int) {
	if s.picker.Gained(i) {
		s.inflow.add(s.now)
	}
}
