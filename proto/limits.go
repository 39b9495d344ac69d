package proto

// Cell is the unit, in bytes, in which a member of this implementation asks for
// parts of pieces and counts what came: blocks begin at a multiple of it, and end
// there or with the piece. It is not part of the protocol.
const Cell = 16 << 10

// MinSeedPieceLength is the least piece length that a member of this implementation
// takes for a content that it seeds, in bytes: only whole pieces are passed on, so
// short ones are sooner with everybody. It is not part of the protocol: the smaller
// ones that a manifest may have are for torrents, whose authors chose them.
const MinSeedPieceLength = 64 << 10

// Limits that readers enforce. They are part of the protocol: a peer that
// exceeds one is wrong, not merely large.
const (
	// MinPieceLength and MaxPieceLength bound the piece length, a power of two.
	MinPieceLength = 16 << 10
	MaxPieceLength = 16 << 20
	// MaxPieces bounds the pieces of one content: 32 TiB of 16 MiB pieces.
	MaxPieces = 1 << 21
	// MaxEntries bounds the files, folders and links of one content.
	MaxEntries = 1 << 20
	// MaxManifest bounds an encoded manifest, in bytes.
	MaxManifest = 192 << 20
	// MaxTorrent bounds a BitTorrent info dictionary, in bytes: what libtorrent's
	// clients take from peers, within a few percent. It is enough for 1.6 million
	// pieces.
	MaxTorrent = 32 << 20
	// MaxPath and MaxElement bound a path inside a content and one of its
	// elements, in bytes.
	MaxPath    = 4096
	MaxElement = 255
	// MaxBlock bounds the payload of one Block, in bytes.
	MaxBlock = 256 << 10
	// MaxFrame bounds type and body of a control frame, in bytes.
	MaxFrame = 1 << 20
	// MaxRanges bounds the ranges in one message.
	MaxRanges = 16 << 10
	// MaxMembers bounds the members in one message.
	MaxMembers = 1024
	// MaxClusters bounds the clusters in one message.
	MaxClusters = 1024
	// MaxAddrs and MaxAddr bound a member's addresses: how many, and bytes each.
	MaxAddrs = 16
	MaxAddr  = 256
	// MaxCluster bounds a cluster's name, in bytes.
	MaxCluster = 64
	// MaxText bounds the text of an error, in bytes.
	MaxText = 512
	// MaxPeerID bounds a peer id, in bytes.
	MaxPeerID = 64
	// MaxCID bounds a binary content id, in bytes.
	MaxCID = 64
	// MaxLink bounds the text of a link, in bytes, and MaxLinkAddrs its trackers,
	// and its peers.
	MaxLink      = 64 << 10
	MaxLinkAddrs = 64
)
