// Package peer runs a node: it seeds contents, gets those of other nodes, and serves what it
// has to the swarm of each.
//
// A [Node] owns a data folder, with its key and the state of its transfers, and listens for
// other nodes by libp2p. [Node.Seed] hashes a file or folder in place and returns a [Transfer],
// whose [Transfer.Link] others pass to [Node.Get]. A node runs any number of transfers, and
// resumes them when it is started again. The Example shows all of it.
//
// Nodes belong to clusters, which share a fast network. Each piece crosses from one cluster to
// another about once, and spreads within it.
//
// A transfer that knows what its content is, and has opened its store, takes part in a swarm:
// package peer/swarm describes the way of a piece from socket to disk. What to request of which
// peer is decided by package mob.
//
// Nodes find each other by the peers that a link names and by a [Finder], such as the client of
// a tracker. Peers that speak another protocol are attached to a swarm with [Transfer.Attach].
package peer
