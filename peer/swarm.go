package peer

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/book"
	"github.com/mobgrid/mob/peer/exchange"
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
	form   exchange.Form
	ctx    context.Context // ends with the swarm
	cancel context.CancelCauseFunc
	finder Finder // nil when no tracker is known

	// Safe for concurrent use.
	count   traffic.Counters
	inbox   chan input
	news    chan struct{} // holds a token when the trackers should hear of progress
	damaged atomic.Int64
	status  atomic.Pointer[snapshot]
	checks  chan exchange.Complaint
	workers exchange.Workers
	wg      sync.WaitGroup

	excludes struct {
		sync.Mutex
		logged map[libpeer.ID]bool
	}
	sessions struct {
		sync.RWMutex // written by the loop alone
		m            map[proto.PeerID]*session
	}

	// Owned by the loop.
	mind    mob.Strategy
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

func newSwarm(t *Transfer, finder Finder, v *store.Verifier, st store.Store) *swarm {
	n, m := t.node, v.Manifest()
	s := &swarm{
		t: t, node: n, finder: finder, v: v, m: m, st: st, log: n.log.With("content", t.ID.String()),
		inbox: make(chan input, inboxSize), news: make(chan struct{}, 1),
		checks: make(chan exchange.Complaint, 64), workers: exchange.NewWorkers(), book: book.New(), dialing: make(chan struct{}, maxDials),
	}
	s.excludes.logged = map[libpeer.ID]bool{}
	s.sessions.m = map[proto.PeerID]*session{}
	s.form = exchange.Plain(s.exchangeConfig())
	var have []proto.Range
	for i := range m.Pieces() {
		if st.Has(i) {
			have = append(have, proto.Range{First: uint32(i), Count: 1})
		}
	}
	s.mind = mob.New(mob.Config{
		Self: n.self(), Cluster: n.cfg.Cluster, Length: m.Length(), PieceLength: int(m.PieceLength),
		Seed: n.seed(t.ID), Tuning: n.cfg.Tuning,
	}, have)
	return s
}

func (s *swarm) exchangeConfig() exchange.Config {
	return exchange.Config{Swarm: (*exchanging)(s), Verifier: s.v, Store: s.st, Count: &s.count, Log: s.log}
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

// complain has a piece checked. Doubts are dropped while many wait.
func (s *swarm) complain(c exchange.Complaint) {
	if !s.st.Has(int(c.Piece)) {
		return
	}
	select {
	case s.checks <- c:
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

func (s *swarm) checkPiece(c exchange.Complaint) {
	if !s.st.Has(int(c.Piece)) {
		return
	}
	good, err := store.Check(s.st, s.m, int(c.Piece))
	if err == nil && good {
		(*exchanging)(s).Post(mob.Checked{Peer: c.Peer.ID(), Piece: int(c.Number)}, c.Peer)
		return
	}
	s.damaged.Add(1)
	s.log.Error("content changed on disk: the piece is not offered any more", "piece", c.Piece, "error", err)
	if err := s.st.Forget(int(c.Piece)); err != nil {
		s.log.Error("journal", "error", err)
	}
	switch {
	case s.form.Coded != nil:
		s.form.Coded.Forget(c.Piece)
	case s.form.Gossip != nil:
		s.form.Gossip.Forget(c.Piece)
	default:
		s.post(input{ev: mob.Lost{Piece: int(c.Piece)}})
	}
	s.announceSoon()
}

// announceSoon has the trackers told of news.
func (s *swarm) announceSoon() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}
