// Package metadata is what a node knows of a content besides its bytes.
//
//   - A [Description] holds the manifest, the info dictionary by which BitTorrent clients
//     know the content, and the plan of a planned transfer. It checks them and keeps them in
//     the transfer's folder.
//   - A [Fetcher] fetches them from members of the swarm and from BitTorrent clients.
//     A [Server] serves them to other nodes.
//   - A [Record] is the state of the transfer that survives a restart.
//
// A content is known by the CID of its manifest, or by its info-hash alone: then it is a
// plain torrent. A plain torrent's manifest is made of its info dictionary and has SHA-1
// hashes.
package metadata
