package cast

// DefaultCluster is the cluster of hosts for which none is named.
const DefaultCluster = "default"

// Host is a receiver of a cast.
type Host struct {
	// Name is what the remote shell takes.
	Name string
	// Cluster is the name of its cluster.
	Cluster string
}
