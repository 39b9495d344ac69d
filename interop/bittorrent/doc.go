// Package bittorrent connects stock BitTorrent clients to the swarms of mob: they
// download from the node, and the node downloads from them. Each is an external
// peer of its swarm (see [peer.ExternalPeer]). A piece of mob is a piece of BitTorrent
// v1, so the package translates message by message:
//
//	have, bitfield, unchoke  ->  Have      pieces that the client serves
//	choke                    ->  Reject of every open request, and Drop of all pieces
//	Have                     ->  have
//	Request of 256 KiB       ->  requests of 16 KiB, as many as the client queues
//	piece                    ->  part of a block, which the node verifies and stores
//	request                  ->  piece, read from the files
//	Ping                     ->  nothing: Pong follows after the client's reply time
//
// Before there is a swarm, [Server.Describe] downloads the info dictionary.
//
// The node chokes no client: a rate limit bounds its upload. It supports the
// extensions of BEP 6 (fast), 9 (metadata) and 10, and clients that connect may use
// the encrypted handshake (MSE). There is no DHT, no uTP and no peer exchange. Two mob
// nodes that connect to each other here recognize the key "mob" of the extended
// handshake and disconnect: they meet over libp2p.
//
// Links and trackers are untrusted. An addrRule rejects addresses that could make the node send
// requests to services of its machine or network.
package bittorrent
