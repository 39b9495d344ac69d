package proto

// Cell is the granularity in bytes at which this implementation requests parts of pieces
// and tracks what it received: a block starts at a multiple of Cell and ends at one or with
// its piece. It is not part of the protocol.
const Cell = 16 << 10

// The limits of the protocol. Readers reject what exceeds them.
const (
	// MinPieceLength and MaxPieceLength bound the piece length, a power of two.
	MinPieceLength = 16 << 10
	MaxPieceLength = 16 << 20
	// MaxPieces bounds the pieces of the content: 32 TiB in pieces of 16 MiB.
	MaxPieces = 1 << 21
	// MaxEntries bounds the files, directories and links of the content.
	MaxEntries = 1 << 20
	// MaxManifest bounds an encoded manifest, in bytes.
	MaxManifest = 192 << 20
	// MaxTorrent bounds a BitTorrent info dictionary, in bytes. libtorrent accepts about
	// as much from peers; it is enough for 1.6 million pieces.
	MaxTorrent = 32 << 20
	// MaxPath and MaxElement bound a path and one of its elements, in bytes.
	MaxPath    = 4096
	MaxElement = 255
	// MaxBlock bounds the payload of one Block, in bytes.
	MaxBlock = 256 << 10
	// MaxFrame bounds type and body of a frame, in bytes.
	MaxFrame = 1 << 20
	// MaxOpening bounds the first frame from either side of a stream like MaxFrame. A Hello
	// with all its fields at their limits has less.
	MaxOpening = 8 << 10
	// MaxRanges bounds the ranges in one message.
	MaxRanges = 16 << 10
	// MaxMembers bounds the members in one message.
	MaxMembers = 1024
	// MaxClusters bounds the clusters in one message.
	MaxClusters = 1024
	// MaxFlows bounds the flows of a [Received].
	MaxFlows = 64
	// MaxMeasured and MaxWindows bound the links and the windows of a [Measured], MaxTopologyLinks the
	// links of a [Topology].
	MaxMeasured      = 16
	MaxWindows       = 40
	MaxTopologyLinks = 2048
	// MaxAddrs bounds the addresses of a member, MaxAddr one of them in bytes.
	MaxAddrs = 16
	MaxAddr  = 256
	// MaxCluster bounds the name of a cluster, in bytes, and MaxClusterParts the parts of its path.
	MaxCluster      = 64
	MaxClusterParts = 4
	// MaxHost bounds the name of a host, in bytes.
	MaxHost = 255
	// MaxPlan bounds an encoded plan, in bytes, MaxPlanHosts its hosts and MaxPlanTrees its trees.
	MaxPlan      = 8 << 20
	MaxPlanHosts = 10_000
	MaxPlanTrees = 4096
	// MaxText bounds the text of a [Goodbye], in bytes.
	MaxText = 512
	// MaxPeerID bounds a peer id, in bytes.
	MaxPeerID = 64
	// MaxCredential bounds the envelope of a [Credential], MaxRevoked the envelope of a [Revoked],
	// in bytes.
	MaxCredential = 1 << 10
	MaxRevoked    = 512 << 10
	// MaxCID bounds a binary content id, in bytes.
	MaxCID = 64
	// MaxLink bounds a link in bytes, MaxLinkAddrs each of its lists of addresses.
	MaxLink      = 64 << 10
	MaxLinkAddrs = 64
)
