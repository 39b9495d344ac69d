// Package bittorrent lets stock BitTorrent clients take part in the swarms of mob:
// each is a guest there (see [peer.ExternalPeer]), downloads from the node's files, and is
// downloaded from. A mob piece is a BitTorrent v1 piece, so what this package does is
// translate, message by message:
//
//	have, bitfield, unchoke  ->  Have      what it has and lets us have
//	choke                    ->  Reject of what was asked for, and Drop of all
//	Have                     ->  have
//	Request of 256 KiB       ->  requests of 16 KiB, as many as the client takes
//	piece                    ->  part of a block, which the node checks and stores
//	request                  ->  piece, straight from the files
//	Ping                     ->  nothing: the answer comes when one would (see reply)
//
// Before there is a swarm, [Server.Describe] asks clients what a torrent is.
//
// Nobody is choked: uploading is limited by rate. There are the extensions of BEP 6
// (fast), 9 (metadata) and 10, and no DHT, no uTP and no exchange of peers. Clients
// that come may begin with the encrypted handshake. Two mob nodes that meet here tell
// each other so (the key "mob" of the extended handshake) and part: they have better
// ways.
package bittorrent
