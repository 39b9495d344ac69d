package peer

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/assembly"
	"github.com/mobgrid/mob/peer/book"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/traffic"
	"github.com/mobgrid/mob/proto"
)

// swarm is the node's part in the swarm of one content, once the manifest and
// the store are there.
type swarm struct {
	// Constant.
	t      *Transfer // whose part it is
	node   *Node
	v      *store.Verifier
	m      *proto.Manifest // of v
	st     store.Store
	log    *slog.Logger
	asm    *assembly.Assembler
	ctx    context.Context // ends with the swarm
	cancel context.CancelCauseFunc
	finder Finder // nil when no tracker is known

	// Safe for concurrent use.
	verified bitmap
	count    traffic.Counters
	inbox    chan input
	news     chan struct{} // holds a token when the trackers should hear of progress
	damaged  atomic.Int64
	stored   atomic.Int64 // pieces
	status   atomic.Pointer[snapshot]
	checks   chan complaint
	workers  workers
	wg       sync.WaitGroup

	sessions struct {
		sync.RWMutex // written by the loop alone
		m            map[proto.PeerID]*session
	}

	// Owned by the loop.
	mind    *mob.State
	rates   traffic.Rates
	book    *book.Book
	dialing chan struct{} // a token for each dial under way
}

// input is something for the loop: one field, or a group, is set.
type input struct {
	ev      mob.Event
	sess    *session // of ev, or the one that joined or ended
	joined  bool
	ended   bool
	err     error
	told    bool // members is what others tell of
	members []proto.Member
	do      func()
}

// inboxSize is how many inputs may wait for the loop before their senders do.
const inboxSize = 1024

// maxDials bounds the dials under way for one swarm.
const maxDials = 32

func newSwarm(t *Transfer, finder Finder, v *store.Verifier, st store.Store, verified []bool) *swarm {
	n, m := t.node, v.Manifest()
	s := &swarm{
		t: t, node: n, finder: finder, v: v, m: m, st: st, log: n.log.With("content", t.ID.String()),
		asm: assembly.New(v, st), verified: newBitmap(m.Pieces()),
		inbox: make(chan input, inboxSize), news: make(chan struct{}, 1),
		checks: make(chan complaint, 64), workers: newWorkers(), book: book.New(), dialing: make(chan struct{}, maxDials),
	}
	s.sessions.m = map[proto.PeerID]*session{}
	var have []proto.Range
	for i, ok := range verified {
		if ok {
			s.verified.add(uint32(i))
			s.stored.Add(1)
			have = append(have, proto.Range{First: uint32(i), Count: 1})
		}
	}
	s.mind = mob.New(mob.Config{
		Self: n.self(), Cluster: n.cfg.Cluster, Length: m.Length(), PieceLength: int(m.PieceLength),
		Seed: n.seed(t.ID), Tuning: n.cfg.Tuning,
	}, have)
	return s
}

// post hands an input to the loop. It blocks while the loop is behind, which
// brakes whoever reads from the network.
func (s *swarm) post(in input) {
	select {
	case s.inbox <- in:
	case <-s.ctx.Done():
		if in.joined {
			in.sess.line.close()
		}
	}
}

// fail ends the swarm because of an error of this node, such as a full disk.
func (s *swarm) fail(err error) { s.cancel(err) }

func (s *swarm) session(id proto.PeerID) *session {
	s.sessions.RLock()
	defer s.sessions.RUnlock()
	return s.sessions.m[id]
}

// native is the line to a node, nil when there is none.
func (s *swarm) native(id proto.PeerID) *native {
	if c := s.session(id); c != nil {
		n, _ := c.line.(*native)
		return n
	}
	return nil
}

func (s *swarm) sessionCount() int {
	s.sessions.RLock()
	defer s.sessions.RUnlock()
	return len(s.sessions.m)
}

// valid says whether a span lies within the content.
func (s *swarm) valid(sp proto.Span) bool {
	return int(sp.Piece) < s.m.Pieces() && int(sp.Begin)+int(sp.Length) <= s.m.PieceSize(int(sp.Piece))
}

// complaint is a peer's word that a piece from here was bad, or our own doubt.
type complaint struct {
	sess  *session
	piece uint32
}

// complain has a piece checked. Doubts are dropped while many wait.
func (s *swarm) complain(c *session, piece uint32) {
	if int(piece) >= s.m.Pieces() || !s.verified.has(piece) {
		return
	}
	select {
	case s.checks <- complaint{c, piece}:
	default:
	}
}

// checkComplaints hashes the pieces that others complain of, one at a time. A
// piece that is damaged here is not offered any more.
func (s *swarm) checkComplaints() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case c := <-s.checks:
			s.checkPiece(c)
		}
	}
}

func (s *swarm) checkPiece(c complaint) {
	if !s.verified.has(c.piece) {
		return
	}
	good, err := store.Check(s.st, s.m, int(c.piece))
	if err == nil && good {
		s.post(input{ev: mob.Checked{Peer: c.sess.id(), Piece: int(c.piece)}, sess: c.sess})
		return
	}
	s.verified.remove(c.piece)
	s.stored.Add(-1)
	s.damaged.Add(1)
	s.log.Error("content changed on disk: the piece is not offered any more", "piece", c.piece, "error", err)
	if err := s.st.Forget(int(c.piece)); err != nil {
		s.log.Error("journal", "error", err)
	}
	s.post(input{ev: mob.Lost{Piece: int(c.piece)}})
	s.announceSoon()
}

// announceSoon has the trackers told of news.
func (s *swarm) announceSoon() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}
