// Package metadata fetches, checks, stores and serves the documents that describe the content.
//
//   - A [Description] contains the manifest, the info dictionary for BitTorrent clients, and
//     the plan of a planned transfer. It checks them and stores them in the transfer's state
//     directory.
//   - A [Fetcher] fetches them from members of the swarm and from BitTorrent clients.
//     A [Server] serves them to other nodes.
//   - A [Record] is the state of the transfer that survives a restart.
//
// The content is identified by the CID of its manifest, or as a plain torrent by its
// info-hash alone. A plain torrent's manifest is made of its info dictionary and has SHA-1
// hashes.
package metadata
