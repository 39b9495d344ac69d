package proto

// ManifestRequest asks a member for the manifest of the swarm with the key Swarm, or on a
// torrent stream for its info dictionary. The member answers with [ManifestReply].
type ManifestRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

// Type implements [Message].
func (*ManifestRequest) Type() Type { return TypeManifestRequest }

func (m *ManifestRequest) check() error { return checkKey(m.Swarm) }
