// Package ranks divides the pieces among the members of a cluster, matches members whose shares
// overlap, and orders the members at each link, all by ranks alone.
package ranks

import "slices"

// Share returns the pieces that the member of a rank, in a cluster of size members, fetches over the
// WAN: first <= i < end. The shares of a cluster partition the pieces (MOB, section 3.1:
// P*r/s <= i < P*(r+1)/s). It panics unless 0 <= rank < size.
func Share(pieces, rank, size int) (first, end int) {
	if rank < 0 || rank >= size {
		panic("ranks: rank outside of the cluster")
	}
	return ceilDiv(pieces*rank, size), ceilDiv(pieces*(rank+1), size)
}

// Matches returns the ranks first <= r < end, in a cluster of other members, that match the member of
// a rank in a cluster of size members: those whose shares overlap its own.
//
// The paper (section 3.1) takes r(other) = r(self) mod s(other), which is the same for clusters of
// one size. For others it pairs members whose shares differ, so that haves and claims are of
// pieces that nobody on the link requests. Overlap takes as many connections, and all are useful.
func Matches(rank, size, other int) (first, end int) {
	if other == 0 {
		return 0, 0
	}
	return rank * other / size, ceilDiv((rank+1)*other, size)
}

// Turn returns by how many ranks the order of the members of cluster own, size of them, is rotated
// at the link to another. others are all clusters but the own, sorted. It is the sum of both
// clusters' places. So each member is first at as many links as any other; the members that are
// first in two clusters match; and different clusters request of different members of one cluster
// first, and get different pieces.
func Turn(own, other string, others []string, size int) int {
	here, _ := slices.BinarySearch(others, own)
	there, _ := slices.BinarySearch(others, other)
	if there >= here {
		there++
	}
	return (here + there - 1) * size / (len(others) + 1)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
