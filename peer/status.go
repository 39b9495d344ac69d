package peer

import (
	"time"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
)

// Status is a snapshot of a transfer. Its JSON is an interface for scripts.
type Status struct {
	ID    string `json:"id"`
	Short string `json:"short"` // replaces ID in the log, and on the page without its token
	Name  string `json:"name"`  // empty while it is not known
	Root  string `json:"root"`  // the path of the content
	Link  string `json:"link"`
	// InfoHash is empty if the content is not offered to BitTorrent clients.
	InfoHash string `json:"info_hash,omitempty"`
	Seed     bool   `json:"seed"` // the content was seeded here, not fetched
	Phase    Phase  `json:"phase"`
	// Waiting says what the transfer waits for, in words. It is empty if nothing keeps the
	// transfer waiting.
	Waiting string `json:"waiting,omitempty"`
	// SourceChanged reports that a fetch cannot end because the files of the source were changed, and no
	// connected peer has any piece of the content now.
	SourceChanged bool   `json:"source_changed,omitempty"`
	Error         string `json:"error,omitempty"` // why it failed or was stopped
	// Length is in bytes, -1 while it is not known.
	Length int64 `json:"length"`
	// Have is the number of bytes in verified pieces. In phase Checking, it is the number of
	// bytes that were rehashed.
	Have        int64 `json:"have"`
	Pieces      int   `json:"pieces"`
	PiecesHave  int   `json:"pieces_have"`
	PieceLength int   `json:"piece_length"` // in bytes
	// Traffic is the payload since the transfer started, in bytes. Rate is the mean of the
	// last seconds, in bytes per second.
	Traffic Traffic `json:"traffic"`
	Rate    Traffic `json:"rate"`
	// Levels split the LAN's part of Traffic and Rate by the groups that the node is in, its site first. They
	// are left out where the name of its cluster has one part.
	Levels []Level `json:"levels,omitempty"`
	// Duplicate is the received payload that was stored already, in bytes.
	Duplicate int64 `json:"duplicate"`
	// Damaged counts pieces that changed on disk after they were verified, and have not come again.
	// DamagedFiles names their files, up to a hundred.
	Damaged      int64    `json:"damaged"`
	DamagedFiles []string `json:"damaged_files,omitempty"`
	// Away is set if the path of a complete transfer no longer leads to its files, and Different lists up to 100 entries
	// that differ on the disk. MoreDifferent counts the remaining ones. See [Look].
	Away          bool               `json:"away,omitempty"`
	Different     []store.Difference `json:"different,omitempty"`
	MoreDifferent int                `json:"more_different,omitempty"`
	// DroppedBits counts fetched files and directories that did not get their setuid, setgid or sticky bit.
	DroppedBits int `json:"dropped_bits,omitempty"`
	CodingStatus
	// Plan is nil if the transfer follows no plan.
	Plan *PlanStatus `json:"plan,omitempty"`
	// Limits are those of the transfer itself, nil for none.
	Limits *limit.Limits `json:"limits,omitempty"`
	// Elapsed is the time from the start until the content was whole, or until now.
	Elapsed time.Duration `json:"elapsed_ns"`
	Rank    int           `json:"rank"`     // of the node in its cluster
	MobSize int           `json:"mob_size"` // the members of its cluster
	// Connected is the number of peers. [Transfer.Progress] leaves Peers empty.
	Connected int `json:"connected"`
	// Ends is when the content ends by what [Node.SetKeep] says, unless somebody uses it then.
	Ends time.Time `json:"ends,omitzero"`
	// WholeNodes counts the other nodes that told this one themselves that they have everything,
	// since the transfer was started or resumed.
	WholeNodes int `json:"whole_nodes"`
	// Isolation is nil unless the node reaches no other member of its site, although a tracker named some.
	Isolation *Isolation   `json:"isolation,omitempty"`
	Peers     []PeerStatus `json:"peers"`
}

// CodingStatus is the part of a [Status] that is about coding. It is zero for plain pieces.
type CodingStatus struct {
	// Coded is the number of source blocks in a generation.
	Coded int `json:"coded,omitempty"`
	// Strategy names the kind of permutation gossip, if any.
	Strategy string `json:"strategy,omitempty"`
	// Liars are the ids of polluters: nodes that were found to sign false blocks.
	Liars []string `json:"liars,omitempty"`
}

// PlanStatus is the part of a [Status] that is about a plan.
type PlanStatus struct {
	// ID is the content id of the plan, and Known says whether it was found.
	ID    string `json:"id"`
	Known bool   `json:"known"`
	// Host is the name of the node's host, and In says whether the plan has it.
	Host string `json:"host"`
	In   bool   `json:"in"`
	// Parents counts the hosts that send to the node in the plan, and Followed those of which it
	// requests their pieces now. It fetches those of the others as in any swarm.
	Parents  int `json:"parents"`
	Followed int `json:"followed"`
}

// PeerStatus is the status of a connected peer.
type PeerStatus struct {
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	// Client is the program of an external peer, as it says. It is empty for a node.
	Client   string        `json:"client,omitempty"`
	Local    bool          `json:"local"`     // of the node's own cluster
	Have     int           `json:"have"`      // pieces
	Rate     int64         `json:"rate"`      // bytes received per second
	InFlight int           `json:"in_flight"` // bytes requested that have not come
	RTT      time.Duration `json:"rtt_ns"`
	Stalled  bool          `json:"stalled"` // it owes blocks, and none come
}

// Traffic is payload by direction and by network, in bytes or in bytes per second: WAN is with nodes of
// other sites, LAN with those of the own.
type Traffic = payload.Traffic

// Level is payload within one of the groups that a node is in, but not within the next one.
type Level = swarm.Level

// Isolation reports that a node reaches no other member of its site.
type Isolation = swarm.Isolation

// Status returns a snapshot. It does not wait for the disk or the network.
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

// Visit has the node connect to all members that trackers named, so that [Status.WholeNodes] counts
// those that are whole. It does not wait for them.
func (t *Transfer) Visit() {
	t.use()()
	t.mu.Lock()
	s := t.mu.swarm
	t.mu.Unlock()
	if s != nil {
		s.Visit()
	}
}

// Progress returns a Status without Peers, for callers that poll often.
func (t *Transfer) Progress() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := Status{
		ID:      t.ID.String(),
		Short:   t.ShortName(),
		Name:    t.mu.rec.Link.Name,
		Root:    t.mu.rec.Root,
		Link:    t.mu.rec.Link.String(),
		Seed:    t.mu.rec.Seed,
		Phase:   t.mu.phase,
		Waiting: t.mu.waiting,
		Length:  -1,
		Ends:    t.ends(),
		Plan:    t.planStatus(),

		Away: t.mu.state.Away, Different: t.mu.state.Different, MoreDifferent: t.mu.state.More,

		DroppedBits: t.mu.droppedBits,
		Peers:       []PeerStatus{},
	}
	if !t.mu.rec.Link.InfoHash.IsZero() {
		st.InfoHash = t.mu.rec.Link.InfoHash.String()
	}
	if own := t.Limits(); own != (limit.Limits{}) {
		st.Limits = &own
	}
	if t.mu.err != nil {
		st.Error = oneLine(t.mu.err.Error())
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
	st.PiecesHave, st.Have = t.stored(m)
	if t.mu.toCheck > 0 && t.mu.phase == Checking {
		st.Have = t.mu.checked
	}
	if t.mu.swarm != nil {
		now := t.mu.swarm.Status()
		st.addSwarm(&now)
		if st.Waiting != "" && st.PiecesHave < st.Pieces && t.mu.desc.Plain() {
			st.Waiting += t.node.clientsProblem(t.mu.rec.Link.InfoHash)
		}
	}
	return st
}

// stored returns the verified pieces and their bytes, of a content with manifest m. The caller has
// the lock.
func (t *Transfer) stored(m *proto.Manifest) (pieces int, bytes int64) {
	switch {
	case t.mu.swarm != nil:
		return t.mu.swarm.Stored()
	case t.mu.rec.Whole:
		return m.Pieces(), m.Length()
	}
	return t.mu.rec.Have, t.mu.rec.Bytes
}

// addSwarm adds the status of the swarm.
func (st *Status) addSwarm(s *swarm.Status) {
	st.PiecesHave, st.Have = s.Pieces, s.Bytes
	st.Traffic, st.Rate, st.Levels = s.Traffic, s.Rate, s.Levels
	st.Duplicate, st.Damaged, st.DamagedFiles = s.Duplicate, s.Damaged, s.DamagedFiles
	st.CodingStatus = CodingStatus{Coded: s.Coded, Strategy: s.Strategy, Liars: s.Liars}
	if st.Plan != nil {
		st.Plan.Parents, st.Plan.Followed = s.Parents, s.Followed
	}
	st.Rank, st.MobSize, st.Connected, st.WholeNodes = s.Rank, s.Size, s.Connected, s.Whole
	if i := s.Isolation; i != nil {
		st.Isolation = &Isolation{Cluster: i.Cluster, Known: i.Known, Err: oneLine(i.Err)}
	}
	if st.Phase == Fetching {
		st.Waiting, st.SourceChanged = s.Waiting, s.SourceChanged
	}
	if s.Impaired != "" {
		st.Waiting = s.Impaired
	}
}
