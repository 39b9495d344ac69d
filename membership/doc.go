// Package membership says who may take part in a network: a set of nodes and trackers that
// talk to nobody else.
//
// A network is an Ed25519 key. Its [Secret] signs a [Grant] for each member, which names the
// member's peer id, cluster and roles, and a [List] of members that were revoked:
//
//	secret --signs--> grant: pass         peer id, from, to
//	                         certificate  peer id, cluster, roles, from, to
//	       --signs--> list:  serial, peer ids
//
// All three are signed envelopes of libp2p with CBOR inside. A pass proves membership and
// tells nothing else, so it may be shown to a stranger.
//
// [Member] is this node's part: it shows and renews its own grant, checks those of others,
// and keeps the [Lists] of revoked members. Package peer/transport exchanges them. There is no socket, file
// of a node or goroutine here.
package membership
