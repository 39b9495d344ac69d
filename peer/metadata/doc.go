// Package metadata is what a node knows of a content besides its bytes: the manifest,
// the info dictionary by which BitTorrent clients know it, and the record of the
// transfer. It fetches the first two from members of the swarm and from BitTorrent
// clients, checks them, keeps all three in the folder of the transfer, and serves the
// first two to other nodes.
//
// A content is known by its manifest's id, or by its info-hash alone: then it is a plain
// torrent. Of a plain torrent the info dictionary comes first, and the manifest that
// pieces are verified with is made of it, with SHA-1. One with SHA-256 follows for other
// nodes once somebody has hashed the whole content.
package metadata
