package peer

import (
	"time"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/swarm"
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
	Error    string `json:"error,omitempty"` // why it failed or was stopped
	// Length is in bytes, without PieceBytes of LeftOut. It is -1 while it is not known.
	Length int64 `json:"length"`
	// Pieces counts all pieces of the content, also of left-out files.
	Pieces      int `json:"pieces"`
	PieceLength int `json:"piece_length"` // in bytes
	// In phase Checking, SwarmStatus.Have is the number of bytes that were rehashed.
	SwarmStatus
	// Away is set if the path of a complete transfer no longer leads to its files, and Different lists up to 100 entries
	// that differ on the disk. MoreDifferent counts the remaining ones. See [Look].
	Away          bool               `json:"away,omitempty"`
	Different     []store.Difference `json:"different,omitempty"`
	MoreDifferent int                `json:"more_different,omitempty"`
	// DroppedBits counts fetched files and directories that did not get their setuid, setgid or sticky bit.
	DroppedBits int `json:"dropped_bits,omitempty"`
	// LeftOut counts the files that are not fetched.
	LeftOut metadata.LeftOut `json:"left_out,omitzero"`
	// Plan is nil if the transfer follows no plan.
	Plan *PlanStatus `json:"plan,omitempty"`
	// Priority is the priority of the transfer at this node, empty if none was given.
	Priority limit.Priority `json:"priority,omitempty"`
	// Limits are the limits of the transfer, nil for none.
	Limits *limit.Limits `json:"limits,omitempty"`
	// Elapsed is the time from the start until the content was complete, or until now.
	Elapsed time.Duration `json:"elapsed_ns"`
	// Ends is the time at which the transfer ends, see [Node.SetKeep], unless it is in use.
	Ends time.Time `json:"ends,omitzero"`
	// Peers is empty in the result of [Transfer.Progress].
	Peers []PeerStatus `json:"peers"`
}

// SwarmStatus is the part of a [Status] that is about the swarm.
type SwarmStatus = swarm.Status

// PeerStatus is the status of a connected peer.
type PeerStatus = swarm.PeerStatus

// PlanStatus is the part of a [Status] that is about a plan.
type PlanStatus struct {
	// ID is the content id of the plan, and Known says whether it was found.
	ID    string `json:"id"`
	Known bool   `json:"known"`
	// Host is the name of the node's host, and In says whether the plan has it.
	Host string `json:"host"`
	In   bool   `json:"in"`
	// Parents counts the hosts that send to the node in the plan. Followed counts the parents that it
	// requests the planned pieces from now.
	Parents  int `json:"parents"`
	Followed int `json:"followed"`
}

// Traffic is payload by direction and by network, in bytes or in bytes per second: WAN is with nodes of
// other sites, LAN with nodes of the own site.
type Traffic = payload.Traffic

// Level is payload within one of the groups that a node is in, but not within the next one.
type Level = swarm.Level

// Isolation reports that a node reaches no other member of its site.
type Isolation = swarm.Isolation

// Status returns a snapshot. It does not wait for the disk or the network.
func (t *Transfer) Status() Status {
	s := t.state()
	st := t.progress(s)
	if s.swarm != nil {
		st.Peers = append(st.Peers, s.swarm.Peers()...)
		st.Connected = len(st.Peers)
	}
	return st
}

// Visit has the node connect to all members that trackers named, so that [Status.WholeNodes] counts
// the complete ones. It does not wait for them.
func (t *Transfer) Visit() {
	t.use.start()()
	if s := t.state().swarm; s != nil {
		s.Visit()
	}
}

// Progress returns a Status without Peers, for callers that poll often.
func (t *Transfer) Progress() Status { return t.progress(t.state()) }

func (t *Transfer) progress(s *state) Status {
	rec, m := &s.rec, s.desc.Manifest()
	st := Status{
		ID:     t.ID.String(),
		Short:  t.ShortName(),
		Name:   rec.Link.Name,
		Root:   rec.Root,
		Link:   rec.Link.String(),
		Seed:   rec.Seed,
		Phase:  s.phase,
		Length: -1,
		Ends:   t.node.keep.Load().ends(rec),
		Plan:   planStatus(t.node, s),

		LeftOut:  rec.LeftOut,
		Priority: rec.Priority,

		Away: s.look.Away, Different: s.look.Different, MoreDifferent: s.look.More,

		DroppedBits: s.droppedBits,
		SwarmStatus: SwarmStatus{Waiting: s.waiting},
		Peers:       []PeerStatus{},
	}
	if !rec.Link.InfoHash.IsZero() {
		st.InfoHash = rec.Link.InfoHash.String()
	}
	if own := t.Limits(); own != (limit.Limits{}) {
		st.Limits = &own
	}
	if s.err != nil {
		st.Error = oneLine(s.err.Error())
	}
	end := s.completed
	if end.IsZero() {
		end = time.Now()
	}
	if !s.started.IsZero() {
		st.Elapsed = end.Sub(s.started)
	}
	if m == nil {
		return st
	}
	st.Name, st.Length, st.Pieces, st.PieceLength = m.Name, m.Length()-rec.LeftOut.PieceBytes, m.Pieces(), int(m.PieceLength)
	st.PiecesHave, st.Have = s.stored()
	if s.hashing != nil {
		st.Have = s.hashing.Load()
	}
	if s.swarm != nil {
		st.addSwarm(s.swarm.Status())
		if st.Waiting != "" && st.Have < st.Length && s.desc.Plain() {
			st.Waiting += t.node.cfg.clientsProblem(rec.Link.InfoHash)
		}
	}
	return st
}

// addSwarm adds the status of the swarm.
func (st *Status) addSwarm(s swarm.Status) {
	if st.Phase != Fetching || st.Waiting != "" {
		s.Waiting, s.SourceChanged = st.Waiting, false
	}
	if s.Impaired != "" {
		s.Waiting = s.Impaired
	}
	if i := s.Isolation; i != nil {
		s.Isolation = &Isolation{Cluster: i.Cluster, Known: i.Known, Err: oneLine(i.Err)}
	}
	if st.Plan != nil {
		st.Plan.Parents, st.Plan.Followed = s.Parents, s.Followed
	}
	st.SwarmStatus = s
}
