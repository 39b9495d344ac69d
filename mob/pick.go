package mob

// pick chooses the piece to begin with p, -1 when there is none.
func (s *State) pick(p *peer) int {
	if s.pieces == 0 {
		return -1
	}
	return s.picker.Pick(Peer{p})
}

// free says whether nobody of the own cluster has the piece, as far as what they have
// is not in doubt, or asked for it.
func (s *State) free(i int) bool {
	return s.claims[i] == 0 && (s.holders[i] == 0 || s.picker.Doubtful(i))
}
