package avail

// Order is the place of a group in the order in which sibling groups start a piece. Each node computes it from the
// name of the group, and it differs from piece to piece.
type Order uint64

// NewOrder returns the order of a group: a hash of its name (FNV-1a).
func NewOrder(group string) Order {
	h := Order(14695981039346656037)
	for _, b := range []byte(group) {
		h = (h ^ Order(b)) * 1099511628211
	}
	return h
}

// At returns the place for a piece: a hash of both (splitmix64). The group with the least is first.
func (o Order) At(piece int) uint64 {
	x := uint64(o) + uint64(piece+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
