package mob

// Clusters agree for each piece on an order in which they begin it, without a message: each
// computes the same order from the clusters' names, and the order differs from piece to piece.

// clusterSalt tells a cluster from others in clusterOrder: it is a hash of its name (FNV-1a).
func clusterSalt(cluster string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(cluster) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// clusterOrder returns a cluster's place in the order for piece i: the cluster with the least
// comes first. It is a hash of both (splitmix64).
func clusterOrder(salt uint64, i int) uint64 {
	x := salt + uint64(i+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
