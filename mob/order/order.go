// Package order has clusters agree, for each piece, on who of them comes first, without a
// word: each works out the same order alone, and it differs from piece to piece.
package order

// Salt is what tells a cluster from others in Of: a hash of its name (FNV-1a).
func Salt(cluster string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(cluster) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// Of is the place of the cluster with that salt in the order for a piece: whose is the
// least comes first. It is a hash of both (splitmix64).
func Of(salt uint64, i int) uint64 {
	x := salt + uint64(i+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
