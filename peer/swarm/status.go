package swarm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// Status is a snapshot of a swarm. Its JSON is an interface for scripts, as part of the status of a transfer.
type Status struct {
	// Have is the number of bytes in verified pieces.
	Have       int64 `json:"have"`
	PiecesHave int   `json:"pieces_have"`
	// Traffic is the payload since the transfer started, in bytes. Rate is the mean of the
	// last seconds, in bytes per second.
	Traffic payload.Traffic `json:"traffic"`
	Rate    payload.Traffic `json:"rate"`
	// Levels split the LAN's part of Traffic and Rate by the groups that the node is in, its site first. They
	// are left out where the name of its cluster has one part.
	Levels []Level `json:"levels,omitempty"`
	// Duplicate is the received payload that was stored already, in bytes.
	Duplicate int64 `json:"duplicate"`
	// Damaged counts pieces that changed on disk after they were verified, and were not fetched again.
	// DamagedFiles names their files, up to a hundred.
	Damaged      int64    `json:"damaged"`
	DamagedFiles []string `json:"damaged_files,omitempty"`
	// Coded is the number of source blocks in a generation, 0 for plain pieces. Strategy
	// names the kind of permutation gossip, if any.
	Coded    int    `json:"coded,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	// Polluters are the ids of nodes that signed corrupt blocks.
	Polluters []string `json:"liars,omitempty"`
	Rank      int      `json:"rank"`     // of the node in its site
	MobSize   int      `json:"mob_size"` // the members of its site
	// Connected is the number of peers.
	Connected int `json:"connected"`
	// WholeNodes counts the other nodes that reported in a session that they have everything.
	WholeNodes int `json:"whole_nodes"`
	// Waiting describes what keeps the transfer waiting. It is empty while payload arrives.
	Waiting string `json:"waiting,omitempty"`
	// SourceChanged reports that the content cannot be fetched because the files of its source were changed:
	// a peer that had everything sent bad pieces, and no connected peer has any piece now.
	SourceChanged bool `json:"source_changed,omitempty"`
	// Isolation is nil unless the node reaches no other member of its site, although a tracker named some.
	Isolation *Isolation `json:"isolation,omitempty"`

	// Impaired describes which pieces cannot be served, and why.
	Impaired string `json:"-"`
	// Parents counts the hosts that send to the node in its plan, and Followed the hosts among them whose
	// pieces it requests from them now.
	Parents  int `json:"-"`
	Followed int `json:"-"`
}

// Level is payload within one of the groups that a node is in, but not within the next one: the
// level of the site has the payload from and to other racks. Its JSON is an interface for scripts.
type Level struct {
	Group string `json:"group"`
	In    int64  `json:"in"` // bytes
	Out   int64  `json:"out"`
	// InRate and OutRate are the means of the last seconds, in bytes per second.
	InRate  int64 `json:"in_rate"`
	OutRate int64 `json:"out_rate"`
}

func (s *Swarm) levels(sum, rate *payload.Traffic) (out []Level) {
	parts := proto.ClusterParts(s.cfg.Cluster)
	if parts == 1 {
		return nil
	}
	for i := range parts {
		out = append(out, Level{
			Group: proto.ClusterGroup(s.cfg.Cluster, i+1),
			In:    sum.Near[i].In, Out: sum.Near[i].Out,
			InRate: rate.Near[i].In, OutRate: rate.Near[i].Out,
		})
	}
	return out
}

// PeerStatus is the status of a connected peer. Its JSON is an interface for scripts.
type PeerStatus struct {
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	// Client is the program that an external peer reports. It is empty for a node.
	Client   string        `json:"client,omitempty"`
	Local    bool          `json:"local"`     // of the node's own cluster
	Have     int           `json:"have"`      // pieces
	Done     bool          `json:"-"`         // see [mob.PeerStatus]
	Rate     int64         `json:"rate"`      // bytes received per second
	InFlight int           `json:"in_flight"` // bytes requested and not received
	RTT      time.Duration `json:"rtt_ns"`
	Stalled  bool          `json:"stalled"` // it owes blocks, and none arrive
}

// snapshot is a state of the loop for readers.
type snapshot struct {
	strategy mob.Status
	rate     payload.Traffic
	complete int

	isolation *Isolation
}

// publishStatus publishes the loop's view: twice a second, and immediately if now is set.
func (s *Swarm) publishStatus(now bool) {
	at, t := time.Now(), s.traffic.Traffic()
	sampled := s.rates.sample(at, t)
	if sampled || now {
		st := s.strategy.Status()
		s.completeNodes.note(st)
		s.sampleLinks(at, st)
		s.status.Store(&snapshot{
			strategy: st, rate: s.rates.rate(at, t), complete: len(s.completeNodes.ids), isolation: s.judgeIsolation(at),
		})
	}
}

// Status returns a snapshot. It does not block.
func (s *Swarm) Status() Status {
	st := Status{
		Traffic:   s.traffic.Traffic(),
		Duplicate: s.traffic.Duplicates(),
		Coded:     s.coding.K,
		Strategy:  s.coding.Strategy.String(),
		Polluters: s.polluterNames(),
	}
	st.PiecesHave, st.Have = s.Stored()
	damaged, unreadable, why := s.OutOfService()
	st.Damaged = int64(len(damaged))
	st.DamagedFiles, _ = s.m.FilesOf(damaged, maxFiles)
	if unreadable > 0 {
		st.Impaired = fmt.Sprintf("%s cannot be read at present: %v", count(unreadable, "piece"), why)
	} else if st.Damaged > 0 && s.cfg.UploadOnly {
		st.Impaired = fmt.Sprintf("%s of %s changed on disk: put the files back as they were",
			count(int(st.Damaged), "piece"), list(st.DamagedFiles))
	}
	snap := s.status.Load()
	st.Rate = snap.rate
	st.Levels = s.levels(&st.Traffic, &st.Rate)
	st.Rank, st.MobSize = snap.strategy.Rank, snap.strategy.Size
	st.Parents, st.Followed = snap.strategy.Parents, snap.strategy.Followed
	st.Connected = len(snap.strategy.Peers)
	st.WholeNodes = snap.complete
	st.Isolation = snap.isolation
	if st.Rate.WANIn+st.Rate.LANIn == 0 {
		st.Waiting = s.waiting(snap.strategy)
		st.SourceChanged = s.sourceChanged(snap.strategy)
	}
	return st
}

// Peers returns the connected peers at the last snapshot.
func (s *Swarm) Peers() []PeerStatus {
	snap := s.status.Load()
	peers := make([]PeerStatus, 0, len(snap.strategy.Peers))
	for _, p := range snap.strategy.Peers {
		ps := PeerStatus{
			ID:       libpeer.ID(p.ID).String(),
			Cluster:  p.Cluster,
			Local:    p.Local,
			Have:     p.Have * s.m.Pieces() / max(snap.strategy.Total, 1),
			Done:     p.Done,
			Rate:     int64(p.Rate),
			InFlight: p.InFlight,
			RTT:      p.RTT,
			Stalled:  p.Stalled,
		}
		if c := s.session(p.ID); c != nil {
			ps.ID, ps.Client = c.name, c.client
		}
		peers = append(peers, ps)
	}
	return peers
}

// Connected returns the connected nodes at the last snapshot, those that had everything
// first.
func (s *Swarm) Connected() []libpeer.AddrInfo {
	snap := s.status.Load()
	var complete, partial []libpeer.AddrInfo
	for _, p := range snap.strategy.Peers {
		info := libpeer.AddrInfo{ID: libpeer.ID(p.ID)}
		switch {
		case s.nodePeer(p.ID) == nil:
		case p.Have == snap.strategy.Total:
			complete = append(complete, info)
		default:
			partial = append(partial, info)
		}
	}
	return append(complete, partial...)
}

// Stored returns the verified pieces and their bytes.
func (s *Swarm) Stored() (pieces int, bytes int64) {
	pieces = s.st.Count()
	bytes = int64(pieces) * int64(s.m.PieceLength)
	last := s.m.Pieces() - 1
	if last >= 0 && s.st.Has(last) {
		bytes -= int64(s.m.PieceLength) - int64(s.m.PieceSize(last))
	}
	return pieces, bytes
}

// maxFiles bounds the names of files in a status.
const maxFiles = 100

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%s %ss", humanize.Comma(int64(n)), thing)
}

// maxListed bounds the names in a sentence.
const maxListed = 3

func list(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (s *Swarm) waiting(m mob.Status) string {
	lacking := m.Total - m.Have
	switch {
	case lacking == 0:
		return "the disk"
	case len(m.Peers) == 0:
		if refused := s.notAdmitted.Load(); refused != nil {
			return fmt.Sprintf("peers: none of those known is admitted: %s: %v", refused.Peer, refused)
		}
		return "peers: none of those known can be reached"
	case m.Settling:
		return "news of the own cluster"
	case s.receivedBad(m):
		files, _ := s.m.FilesOf(slices.Collect(bitset.Numbers(m.Lacking, s.m.Pieces())), maxFiles)
		return fmt.Sprintf("the %s of %s: no connected peer has them sound, and another source is needed",
			count(lacking, "missing piece"), list(files))
	case starves(m):
		return fmt.Sprintf("the %s: none of %s has any of them",
			count(lacking, "missing piece"), count(len(m.Peers), "connected peer"))
	}
	return ""
}

// starves reports whether pieces are missing, and no peer has any of them.
func starves(m mob.Status) bool { return m.Have < m.Total && m.Fetching == 0 && m.Available == 0 }

// receivedBad reports whether no peer has a missing piece, and some of them were received and bad.
func (s *Swarm) receivedBad(m mob.Status) bool {
	return starves(m) && m.Rotten > 0 && !s.coding.Coded()
}

// sourceChanged returns [Status.SourceChanged].
func (s *Swarm) sourceChanged(m mob.Status) (changed bool) {
	if !s.receivedBad(m) {
		return false
	}
	for i := range m.Peers {
		if m.Peers[i].Have > 0 {
			return false
		}
		c := s.session(m.Peers[i].ID)
		changed = changed || c != nil && c.seed
	}
	return changed
}
