// Package proto implements mob's wire format: frames and messages, manifests and links, and
// the limits that readers enforce. It has no sockets, goroutines or files. docs/wire.md
// specifies the format byte by byte, with test vectors.
//
// Every stream is a sequence of frames:
//
//	 0       1       2       3       4       5 ...
//	+-------+-------+-------+-------+-------+----------------+
//	|        length (big endian)    | type  | body           |
//	+-------+-------+-------+-------+-------+----------------+
//
// length counts type and body. The body is one CBOR array in the deterministic encoding,
// except in a [Block], [CodedBlock] or [GossipBlock], where it is a fixed header and the
// payload.
//
// There are eight kinds of streams, each with a versioned libp2p protocol id: control and
// bulk streams between two members of a swarm; manifest, torrent, plan and tracker streams,
// which carry one request and one reply; membership streams, which precede all other
// streams in a network; and streams between members of a group.
package proto

// The libp2p protocol ids. An incompatible change gets a new version.
const (
	ControlProtocol  = "/mob/control/1.0.0"
	BulkProtocol     = "/mob/bulk/1.0.0"
	ManifestProtocol = "/mob/manifest/1.0.0"
	TorrentProtocol  = "/mob/torrent/1.0.0"
	PlanProtocol     = "/mob/plan/1.0.0"
	TrackerProtocol  = "/mob/tracker/1.0.0"
	MemberProtocol   = "/mob/member/1.0.0"
	GroupProtocol    = "/mob/group/1.0.0"
)
