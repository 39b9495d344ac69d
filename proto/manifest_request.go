package proto

// ManifestRequest asks a member for the manifest of the swarm with the key Swarm, or on a
// torrent stream for its info dictionary. The member answers with [ManifestReply].
type ManifestRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

func (m *ManifestRequest) check() error { return checkKey(m.Swarm) }

// ManifestReply announces Length bytes of manifest or info dictionary, which follow the
// frame on the stream without a separate frame.
type ManifestReply struct {
	_      struct{} `cbor:",toarray"`
	Length uint32
}

func (m *ManifestReply) check() error { return checkSize("manifest", int(m.Length), MaxManifest) }
