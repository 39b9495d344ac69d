// Package proto holds the words that mob's programs say to each other: frames
// and messages, manifest and link, with every limit that a reader enforces.
// It computes only: no sockets, no goroutines, no files.
//
// Everything on a stream is a frame:
//
//	 0       1       2       3       4       5 ...
//	+-------+-------+-------+-------+-------+----------------+
//	|        length (big endian)    | type  | body           |
//	+-------+-------+-------+-------+-------+----------------+
//
// length counts type and body. The body of every message is one CBOR array
// (deterministic encoding, definite lengths), except those of [Block],
// [CodedBlock] and [GossipBlock], whose body is a fixed header and the payload itself. docs/wire.md gives each
// message byte by byte, with vectors.
//
// Five streams exist, each with a versioned libp2p protocol id: control and
// bulk between two members of a swarm; manifest, torrent, and tracker, of one
// request each.
package proto

// The libp2p protocol ids. A change that an old reader cannot skip gets a new
// version here.
const (
	ControlProtocol  = "/mob/control/1.0.0"
	BulkProtocol     = "/mob/bulk/1.0.0"
	ManifestProtocol = "/mob/manifest/1.0.0"
	TorrentProtocol  = "/mob/torrent/1.0.0"
	TrackerProtocol  = "/mob/tracker/1.0.0"
)
