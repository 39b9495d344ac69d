package proto

// ScrapeRequest asks a tracker for the progress of a swarm, like a BitTorrent scrape. The
// tracker answers with [Scrape].
type ScrapeRequest struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

// Type implements [Message].
func (*ScrapeRequest) Type() Type { return TypeScrapeRequest }

func (m *ScrapeRequest) check() error { return checkKey(m.Swarm) }
