// Package peer runs a node, which seeds files, gets files from other nodes, and serves them.
//
// A [Node] has a data directory with its key and the state of its transfers, and accepts connections
// of other nodes by libp2p. [Node.Seed] hashes a file or directory in place and returns a [Transfer].
// Other nodes get its [Transfer.Link] with [Node.Get]. A node runs any number of transfers, and
// resumes them when it is started again. See the Example.
//
// Nodes belong to clusters, which share a fast network. Each piece crosses from one cluster to
// another about once, and spreads within it.
//
// A transfer with a manifest and an open store joins a swarm, see package peer/swarm. Package mob decides
// which peer to request a piece from.
//
// Nodes find each other by the peers that a link names and by a [Finder], such as the client of
// a tracker. Peers that speak another protocol are attached to a swarm with [Transfer.Attach].
package peer
