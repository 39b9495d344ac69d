package mixed

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/order"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// Config is what a State must know.
type Config struct {
	mob.Config
	// Have are the blocks that are there, of whole generations.
	Have []proto.Range
}

// State tells and does what a [mob.State] does. Like that it computes only, and is not
// safe for concurrent use.
type State struct {
	*mob.State
	cfg    Config
	blocks int    // source blocks of the content
	salt   uint64 // of the order in which the node begins generations
	now    time.Time
	out    []mob.Action

	mixed bool // there was a peer that speaks of plain pieces
	gens  []generation
	first int   // of the generations that are not whole
	under []int // those that were begun and are not whole
	stale bool  // which are to be begun, or opened, may have changed

	// members are the others of the cluster that joined, and far the peers of other
	// clusters. While the node is gated its State knows what these have, and those claim,
	// of open generations only.
	members map[proto.PeerID]*member
	far     map[proto.PeerID]*remote
	gated   bool

	// By block, claims and holders count the members that claim or have it; promised are
	// those of which they were told that they will come from here.
	claims, holders []uint16
	promised        *pieceset.Set

	round   uint64    // of pings
	openAt  time.Time // when the next generation that was begun is opened at the latest; zero for none
	checkAt time.Time // when to look next for who is silent, and whether anything comes
	moved   time.Time // when something came
	fetched time.Time // when something came over the WAN, or was on its way, or was begun; or nothing was to come
	lapsed  bool      // nothing came for long, and nothing is promised
}

// generation is how far one is.
type generation struct {
	whole bool
	asked bool // some of it was asked for over the WAN
	begun bool // it is fetched over the WAN, or will be
	open  bool // the State knows who has it
	// round is that of the pings which went out when it was begun, and at when that was.
	round uint64
	at    time.Time
}

// New is the State of a coding node.
func New(cfg Config) *State {
	s := &State{
		State: mob.New(cfg.Config, cfg.Have), cfg: cfg, salt: order.Salt(string(cfg.Self)),
		blocks:  int((cfg.Length + int64(cfg.PieceLength) - 1) / int64(cfg.PieceLength)),
		members: map[proto.PeerID]*member{}, far: map[proto.PeerID]*remote{},
	}
	n := s.State.Status().Total
	s.gens = make([]generation, n/cfg.Coding.Names)
	s.claims, s.holders, s.promised = make([]uint16, n), make([]uint16, n), pieceset.New(n)
	pieceset.Each(cfg.Have, n, func(i int) { s.gens[s.of(i)].whole = true })
	return s
}

// Step is that of a [mob.State].
func (s *State) Step(now time.Time, ev mob.Event) []mob.Action {
	s.now, s.out = now, s.out[:0]
	s.hear(ev)
	if s.mixed {
		s.advance()
	}
	return s.out
}

// Wake is that of a [mob.State].
func (s *State) Wake() time.Duration {
	d := s.State.Wake()
	if !s.openAt.IsZero() {
		d = min(d, s.openAt.Sub(s.now))
	}
	return max(d, time.Millisecond)
}

// Status is that of a [mob.State], with all that far peers have.
func (s *State) Status() mob.Status {
	st := s.State.Status()
	for i := range st.Peers {
		if r := s.far[st.Peers[i].ID]; r != nil {
			st.Peers[i].Have = r.have.Len()
		}
	}
	return st
}

// hear takes in an event.
func (s *State) hear(ev mob.Event) {
	switch e := ev.(type) {
	case mob.Joined:
		s.join(e)
		return
	case mob.Left:
		s.forget(e.Peer)
	case mob.Received:
		s.spoke(e.Peer)
		switch m := e.Message.(type) {
		case *proto.Have:
			ev = mob.Received{Peer: e.Peer, Message: s.heard(e.Peer, m)}
		case *proto.Reject:
			s.unhave(e.Peer, int(m.Piece))
		case *proto.Pong:
			s.ponged(e.Peer, m.Nonce)
		case *proto.Want:
			s.wants(e.Peer, m)
		}
	case mob.Arrived:
		s.came(e.Peer)
	case mob.Stored:
		s.moved = s.now
	case mob.Decoded:
		s.moved, s.fetched = s.now, s.now
		s.whole(e.Generation)
	case mob.Polluted:
		defer s.needed(e.Generation * s.cfg.Coding.Names)
	case mob.Failed:
		if len(e.Sources) == 1 {
			s.unhave(e.Sources[0], e.Piece)
		}
		defer s.needed(e.Piece)
	case mob.Lost:
		defer s.needed(e.Piece)
	}
	s.pass(ev)
}

// pass hands an event on to the State, and takes over what is to be done.
func (s *State) pass(ev mob.Event) {
	for _, a := range s.State.Step(s.now, ev) {
		switch act := a.(type) {
		case mob.Send:
			a = s.sent(act)
		case mob.Drop:
			s.forget(act.Peer)
		}
		s.out = append(s.out, a)
	}
}

// sent takes note of a message, and is what is sent in its place.
func (s *State) sent(a mob.Send) mob.Send {
	switch m := a.Message.(type) {
	case *proto.Have:
		if o := s.members[a.Peer]; o != nil {
			a.Message = s.said(o, m)
		}
	case *proto.Request:
		if gen := &s.gens[s.of(int(m.Piece))]; s.far[a.Peer] != nil {
			gen.asked = true
		}
	}
	return a
}

// join notes a peer.
func (s *State) join(e mob.Joined) {
	n := s.promised.Cap()
	s.mixed, s.stale = s.mixed || e.Plain, true
	if e.Cluster == s.cfg.Cluster {
		if s.members[e.ID] == nil {
			s.members[e.ID] = &member{claims: pieceset.New(n), have: pieceset.New(n), heard: s.now}
		}
		s.pass(e)
		return
	}
	r := &remote{have: pieceset.New(n), heard: s.now}
	s.far[e.ID] = r
	if e.Whole {
		r.have.AddRange(0, n)
	}
	e.Whole = e.Whole && !s.gated
	s.pass(e)
	if s.gated {
		s.show(e.ID, r, s.which(false))
	}
}

// forget notes that a peer has left.
func (s *State) forget(id proto.PeerID) {
	s.stale = true
	delete(s.far, id)
	if o := s.members[id]; o != nil {
		delete(s.members, id)
		s.silence(o)
		o.have.Each(func(i int) { s.holders[i]-- })
	}
}

// spoke notes that a peer is there.
func (s *State) spoke(id proto.PeerID) {
	if o := s.members[id]; o != nil {
		o.heard = s.now
	}
	if r := s.far[id]; r != nil {
		if r.heard = s.now; r.late {
			r.late = false
			s.show(id, r, s.which(false))
		}
	}
}

// heard takes in what a peer tells of blocks, and returns what the State is to hear of it.
func (s *State) heard(id proto.PeerID, m *proto.Have) *proto.Have {
	if r := s.far[id]; r != nil {
		return s.heardFar(r, m)
	}
	if o := s.members[id]; o != nil {
		return s.heardMember(id, o, m)
	}
	return m
}

// unhave notes that a peer does not have a block that it told of: it refused it, or sent a
// wrong one.
func (s *State) unhave(id proto.PeerID, i int) {
	if i < 0 || i >= s.promised.Cap() {
		return
	}
	if r := s.far[id]; r != nil {
		r.have.Remove(i)
	}
	if o := s.members[id]; o != nil && o.have.Remove(i) {
		s.holders[i]--
		s.stale = true
	}
}

// of is the generation of a block.
func (s *State) of(i int) int { return i / s.cfg.Coding.Names }

// source is the range of the source blocks of a generation.
func (s *State) source(g int) (first, end int) {
	c := &s.cfg.Coding
	first = g * c.Names
	return first, first + min(c.Blocks, s.blocks-g*c.Blocks)
}

// came notes a block. One that came over the WAN shows that promises can be kept.
func (s *State) came(from proto.PeerID) {
	s.moved = s.now
	if s.far[from] == nil {
		return
	}
	if s.fetched = s.now; s.lapsed {
		s.lapsed, s.stale = false, true
	}
}

// whole notes that a generation is there.
func (s *State) whole(g int) {
	s.gens[g] = generation{whole: true}
	s.under = slices.DeleteFunc(s.under, func(h int) bool { return h == g })
	s.stale = true
	for i, end := s.source(g); i < end; i++ {
		s.promised.Remove(i)
	}
}

// needed begins the generation of a block at once that is wrong, or not there any more. It
// may have been the fault of a peer alone: then the block is there, from another one.
func (s *State) needed(i int) {
	if s.State.Has(i) {
		return
	}
	g := s.of(i)
	gen := &s.gens[g]
	gen.whole, gen.asked, s.stale = false, true, true
	s.first = min(s.first, g)
	if s.gated && !gen.open {
		s.take(g)
		s.open(g)
	}
}

// advance does what is due.
func (s *State) advance() {
	if !s.now.Before(s.checkAt) {
		s.checkAt = s.now.Add(s.cfg.Tuning.Stall / 2)
		s.check()
	}
	if s.lapsed || !s.stale && (s.openAt.IsZero() || s.now.Before(s.openAt)) {
		return
	}
	s.stale = false
	s.gate()
	s.begin()
	s.promise()
	s.openDue()
}
