package peer

import (
	"time"

	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/swarm"
)

// Status is a snapshot of a transfer, for people and scripts.
type Status struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Root string `json:"root"`
	Link string `json:"link"`
	// InfoHash is set for a content that is offered to BitTorrent clients.
	InfoHash string `json:"info_hash,omitempty"`
	Seed     bool   `json:"seed"`
	Phase    Phase  `json:"phase"`
	// Waiting says in words what the transfer waits for, if it does.
	Waiting string `json:"waiting,omitempty"`
	Error   string `json:"error,omitempty"`
	// Length is in bytes, and -1 before the manifest is there.
	Length int64 `json:"length"`
	// Have is how much is stored and verified, in bytes; while checking, how
	// much of Length was looked at.
	Have        int64 `json:"have"`
	Pieces      int   `json:"pieces"`
	PiecesHave  int   `json:"pieces_have"`
	PieceLength int   `json:"piece_length"`
	// Traffic is the payload since the transfer was taken up, Rate that of the
	// last seconds, per second.
	Traffic   Traffic `json:"traffic"`
	Rate      Traffic `json:"rate"`
	Duplicate int64   `json:"duplicate"`
	// Damaged counts pieces that changed on disk after they were verified.
	Damaged int64 `json:"damaged"`
	CodingStatus
	// Elapsed is the time from the start until the content was whole, or now.
	Elapsed time.Duration `json:"elapsed_ns"`
	Rank    int           `json:"rank"`
	MobSize int           `json:"mob_size"`
	// Connected is how many peers there are; Peers lists them.
	Connected int          `json:"connected"`
	Peers     []PeerStatus `json:"peers"`
}

// CodingStatus is what a coded transfer has to tell besides.
type CodingStatus struct {
	// Coded is how many source blocks a generation has.
	Coded int `json:"coded,omitempty"`
	// Strategy is the kind of permutation gossip by which blocks go round, if they do.
	Strategy string `json:"strategy,omitempty"`
	// Liars are the nodes that were found to make false blocks.
	Liars []string `json:"liars,omitempty"`
}

// PeerStatus is a connected peer.
type PeerStatus struct {
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	// Client is what a guest says that it runs, and empty for a node.
	Client   string        `json:"client,omitempty"`
	Local    bool          `json:"local"`
	Have     int           `json:"have"`
	Rate     int64         `json:"rate"`
	InFlight int           `json:"in_flight"`
	RTT      time.Duration `json:"rtt_ns"`
	Stalled  bool          `json:"stalled"`
}

// Traffic is payload by where it came from and went to, in bytes or in bytes per
// second.
type Traffic = payload.Traffic

// Status takes a snapshot. It never blocks for long.
func (t *Transfer) Status() Status {
	st := t.Progress()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.swarm != nil {
		for _, p := range t.mu.swarm.Peers() {
			st.Peers = append(st.Peers, PeerStatus{
				ID:       p.ID,
				Cluster:  p.Cluster,
				Client:   p.Client,
				Local:    p.Local,
				Have:     p.Have,
				Rate:     int64(p.Rate),
				InFlight: p.InFlight,
				RTT:      p.RTT,
				Stalled:  p.Stalled,
			})
		}
		st.Connected = len(st.Peers)
	}
	return st
}

// Progress is Status without the list of peers, for those who ask often.
func (t *Transfer) Progress() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := Status{ID: t.ID.String(), Root: t.mu.rec.Root, Link: t.mu.rec.Link.String(), Seed: t.mu.rec.Seed,
		Name: t.mu.rec.Link.Name, Phase: t.mu.phase, Waiting: t.mu.waiting, Length: -1, Peers: []PeerStatus{}}
	if !t.mu.rec.Link.InfoHash.IsZero() {
		st.InfoHash = t.mu.rec.Link.InfoHash.String()
	}
	if t.mu.err != nil {
		st.Error = t.mu.err.Error()
	}
	end := t.mu.finished
	if end.IsZero() {
		end = time.Now()
	}
	if !t.mu.began.IsZero() {
		st.Elapsed = end.Sub(t.mu.began)
	}
	m := t.mu.desc.Manifest()
	if m == nil {
		return st
	}
	st.Name, st.Length, st.Pieces, st.PieceLength = m.Name, m.Length(), m.Pieces(), int(m.PieceLength)
	st.PiecesHave, st.Have = t.mu.rec.Have, t.mu.rec.Bytes
	if t.mu.rec.Whole {
		st.PiecesHave, st.Have = st.Pieces, st.Length
	}
	if t.mu.phase == Checking {
		st.Have = t.mu.checked
	}
	if t.mu.swarm != nil {
		now := t.mu.swarm.Status()
		st.addSwarm(&now)
		if st.Waiting != "" && st.PiecesHave < st.Pieces && t.mu.desc.Plain() && t.node.cfg.Describe == nil {
			st.Waiting += metadata.ClientsNotAsked
		}
	}
	return st
}

// addSwarm adds what the swarm knows.
func (st *Status) addSwarm(s *swarm.Status) {
	st.PiecesHave, st.Have = s.Pieces, s.Bytes
	st.Traffic, st.Rate = s.Traffic, s.Rate
	st.Duplicate, st.Damaged = s.Duplicate, s.Damaged
	st.CodingStatus = CodingStatus{Coded: s.Coded, Strategy: s.Strategy, Liars: s.Liars}
	st.Rank, st.MobSize, st.Connected = s.Rank, s.Size, s.Connected
	if st.Phase == Fetching {
		st.Waiting = s.Waiting
	}
}
