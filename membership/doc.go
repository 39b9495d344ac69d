// Package membership implements private networks: sets of nodes and trackers that communicate
// only with each other.
//
// A network is an Ed25519 key. Its [Secret] signs a [Grant] for each member, which names the
// member's peer id, cluster and roles, and a [List] of members that were revoked:
//
//	secret --signs--> grant: pass         peer id, from, to
//	                         certificate  peer id, cluster, roles, from, to
//	       --signs--> list:  serial, peer ids
//
// All three are signed envelopes of libp2p with CBOR inside. A pass proves membership and
// nothing else, so it may be sent to an unauthenticated peer.
//
// A [Member] is the state of one node: its grant, which it renews, and the [Lists] of revoked
// members. It checks the passes and certificates of other nodes. Package peer/transport exchanges
// them. This package has no sockets or goroutines.
package membership
