package proto

// Steal asks a local peer to give away pieces that it requested over the WAN and that are
// slow to arrive (Robber, the successor of MOB). Rate is the rate in bytes per second at
// which the sender receives over the WAN; the peer gives away what would arrive sooner at
// that rate, and answers with [Give].
type Steal struct {
	_    struct{} `cbor:",toarray"`
	Rate uint64
}

func (*Steal) check() error { return nil }

// Give answers a [Steal] with the pieces that its sender has dropped, which may be none.
type Give struct {
	_      struct{} `cbor:",toarray"`
	Pieces []Range
}

func (m *Give) check() error { return checkRanges("give", m.Pieces) }
