// Package ranks divides the pieces among the members of a cluster, and says whose shares
// overlap and who comes first at a link, by ranks alone.
package ranks

import "slices"

// Share is the part of the pieces that the member of the given rank in a
// cluster of size members fetches over the WAN: first <= i < end. The shares of
// a cluster partition the pieces (MOB, section 3.1: P*r/s <= i < P*(r+1)/s). It
// panics unless 0 <= rank < size.
func Share(pieces, rank, size int) (first, end int) {
	if rank < 0 || rank >= size {
		panic("ranks: rank outside of the cluster")
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

// Turn is by how many ranks the order of the size members of cluster own is turned at the
// link to another; others are all clusters but the own, sorted. By the sum of both clusters'
// places each member is the first at as many links as any other; the first of the two
// clusters are matched; and different members of one cluster are asked first by different
// clusters, who get different pieces from them.
func Turn(own, other string, others []string, size int) int {
	here, _ := slices.BinarySearch(others, own)
	there, _ := slices.BinarySearch(others, other)
	if there >= here {
		there++
	}
	return (here + there - 1) * size / (len(others) + 1)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
