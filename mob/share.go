package mob

// Share is the part of the pieces that the member of the given rank in a
// cluster of size members fetches over the WAN: first <= i < end. The shares of
// a cluster partition the pieces (MOB, section 3.1: P*r/s <= i < P*(r+1)/s). It
// panics unless 0 <= rank < size.
func Share(pieces, rank, size int) (first, end int) {
	if rank < 0 || rank >= size {
		panic("mob: rank outside of the cluster")
	}
	return ceilDiv(pieces*rank, size), ceilDiv(pieces*(rank+1), size)
}

// Matches gives the ranks first <= r < end in a cluster of other members that
// are the global peers of the member of the given rank in a cluster of size
// members: those whose shares overlap its own.
//
// The paper (section 3.1) takes r(other) = r(self) mod s(other), which is the
// same for clusters of one size. For others it pairs members whose shares
// differ, so that haves and claims speak of pieces that nobody on the link
// asks for; overlap keeps the number of connections and makes every one useful.
func Matches(rank, size, other int) (first, end int) {
	if other == 0 {
		return 0, 0
	}
	return rank * other / size, ceilDiv((rank+1)*other, size)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
