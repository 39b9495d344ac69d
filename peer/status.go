package peer

import (
	"fmt"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/traffic"
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
type Traffic = traffic.Bytes

// snapshot is what the loop publishes for readers.
type snapshot struct {
	mind mob.Status
	rate Traffic
}

// snapshot publishes the loop's view: twice a second, and at once after news.
func (s *swarm) snapshot(news bool) {
	now, t := time.Now(), s.count.Bytes()
	if !s.rates.Sample(now, t) && !news {
		return
	}
	s.status.Store(&snapshot{mind: s.mind.Status(), rate: s.rates.Rate(now, t)})
}

// Status takes a snapshot. It never blocks for long.
func (t *Transfer) Status() Status {
	st := t.Progress()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.swarm != nil {
		t.mu.swarm.listPeers(&st)
	}
	return st
}

// Progress is Status without the list of peers, for those who ask often.
func (t *Transfer) Progress() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := Status{ID: t.ID.String(), Root: t.mu.rec.Root, Link: t.mu.rec.Link, Seed: t.mu.rec.Seed,
		Name: t.mu.link.Name, Phase: t.mu.phase, Waiting: t.mu.waiting, Length: -1, Peers: []PeerStatus{}}
	if !t.mu.link.InfoHash.IsZero() {
		st.InfoHash = t.mu.link.InfoHash.String()
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
		t.mu.swarm.fill(&st)
		if st.Waiting != "" && st.PiecesHave < st.Pieces && t.mu.desc.Plain() && t.node.cfg.Describe == nil {
			st.Waiting += metadata.ClientsNotAsked
		}
	}
	return st
}

// fill adds what the swarm knows.
func (s *swarm) fill(st *Status) {
	st.PiecesHave, st.Have = s.have()
	st.Traffic, st.Duplicate, st.Damaged = s.count.Bytes(), s.count.Duplicates(), s.damaged.Load()
	st.CodingStatus = CodingStatus{s.form.Coding.K, s.form.Coding.Strategy.String(), s.form.Coded.Liars()}
	snap := s.status.Load()
	if snap == nil {
		return
	}
	st.Rate, st.Rank, st.MobSize, st.Connected = snap.rate, snap.mind.Rank, snap.mind.Size, len(snap.mind.Peers)
	if st.Phase == Fetching && st.Rate.WANIn+st.Rate.LANIn == 0 {
		st.Waiting = waiting(snap.mind)
	}
}

func (s *swarm) listPeers(st *Status) {
	snap := s.status.Load()
	if snap == nil {
		return
	}
	for _, p := range snap.mind.Peers {
		ps := PeerStatus{
			ID: libpeer.ID(p.ID).String(), Cluster: p.Cluster, Local: p.Local,
			Rate: int64(p.Rate), InFlight: p.InFlight, RTT: p.RTT, Stalled: p.Stalled,
		}
		if c := s.session(p.ID); c != nil {
			ps.ID, ps.Client, ps.Have = c.name, c.client, s.form.InPieces(p.Have, snap.mind.Total, s.m.Pieces())
		}
		st.Peers = append(st.Peers, ps)
	}
	st.Connected = len(st.Peers)
}

// waiting says in words what a swarm waits for.
func waiting(m mob.Status) string {
	lacking := m.Total - m.Have
	switch {
	case lacking == 0:
		return "the disk"
	case len(m.Peers) == 0:
		return "peers: nobody who is known can be reached"
	case m.Settling:
		return "news of the own cluster"
	case m.Fetching == 0 && m.Available == 0:
		return fmt.Sprintf("somebody who has the %d missing pieces: none of %d connected peers does", lacking, len(m.Peers))
	}
	return ""
}

// have is how much is stored and verified.
func (s *swarm) have() (pieces int, bytes int64) {
	pieces = s.st.Count()
	bytes = int64(pieces) * int64(s.m.PieceLength)
	if last := s.m.Pieces() - 1; last >= 0 && s.st.Has(last) {
		bytes -= int64(s.m.PieceLength) - int64(s.m.PieceSize(last))
	}
	return pieces, bytes
}
