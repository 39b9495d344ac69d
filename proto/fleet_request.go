package proto

// FleetRequest asks a tracker for the progress of a swarm, like a BitTorrent scrape. The
// tracker answers with [Fleet].
type FleetRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

// Type implements [Message].
func (*FleetRequest) Type() Type { return TypeFleetRequest }

func (m *FleetRequest) check() error { return checkKey(m.Swarm) }
