package mob

import (
	"math/rand/v2"
	"time"

	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/mob/timer"
	"github.com/mobgrid/mob/proto"
)

// State is the receiver-driven [Strategy]: one node's part in one swarm. It is not safe for
// concurrent use: one goroutine owns it (see the package comment).
type State struct {
	// Constant.
	cfg    Config
	picker Picker
	roster *roster.Roster

	rng *rand.Rand
	out []Action // of this step

	table
	batches  avail.Batches
	finished bool // all pieces are stored

	stealing proto.PeerID
	book     conduct.Book

	started time.Time // the first step
}

// New returns the State of a node that has some pieces already. It panics if the piece length is
// not a positive multiple of [proto.Cell].
func New(cfg Config, have []proto.Range) *State {
	picker := cfg.Picker
	switch {
	case picker != nil:
	case cfg.Growing:
		picker = newGrowing(cfg.Length, cfg.PieceLength)
	default:
		plain := newPieces(cfg.Length, cfg.PieceLength)
		plain.layout.Together = cfg.Together
		picker = plain
	}
	layout := picker.Layout()
	if layout.Size <= 0 || layout.Size%proto.Cell != 0 {
		panic("mob: piece length is not a multiple of 16 KiB")
	}
	n := layout.Count
	s := &State{
		cfg:    cfg,
		picker: picker,
		rng:    rand.New(rand.NewPCG(cfg.Seed, 0x6d6f62)),
		table:  newTable(&cfg, layout, have),
	}
	self := Node{ID: cfg.Self, Cluster: cfg.Cluster}
	s.roster = roster.New(self, &s.t.Settings, &s.t.Rules, s.work, s.rng, &s.due, cfg.Length, layout.share)
	var groups []string
	for _, g := range s.roster.Groups {
		s.levels, groups = append(s.levels, newLevel(g, n, picker.Unverified)), append(groups, g.Name)
	}
	s.work.Start(n, groups, &s.t.Rules, &s.book, func(level, i int) bool {
		return s.levels[level].Holders[i] > 0 || s.levels[level].Claims[i] > 0
	})
	s.batches = avail.NewBatches(&s.t.Batching, s.roster.Groups[0], &s.due)
	picker.Attach(newControl(s))
	return s
}

// Step implements [Strategy].
func (s *State) Step(now time.Time, ev Event) []Action {
	s.now, s.roster.Now, s.out = now, now, s.out[:0]
	if s.started.IsZero() {
		s.started, s.due[timer.Health] = now, now
		s.roster.Start()
		s.checkComplete()
	}
	switch ev := ev.(type) {
	case Learned:
		if ev.Hearsay {
			s.roster.Named(ev.Nodes)
		} else {
			s.roster.Learned(ev.Nodes, !s.complete)
		}
		s.applyChanges()
	case Joined:
		s.onJoined(ev.Node)
		if p := s.joined[ev.Node.ID]; p != nil && ev.Whole {
			s.onHave(p, &proto.Have{Have: []proto.Range{{Count: uint32(s.layout.Count)}}})
		}
	case Named:
		s.onNamed(ev.Peer, ev.Host)
	case Left:
		s.onLeft(ev.Peer, false)
	case Unreachable:
		s.roster.Unreachable(ev.Peer)
		s.applyChanges()
	case Received:
		s.onReceived(ev.Peer, ev.Message)
	case Arrived:
		s.onArrived(ev.Peer, ev.Span)
	case Stored, Useless, Decoded, Polluted, Grown:
		s.picker.Apply(ev)
	case Lost:
		s.picker.Apply(ev)
		s.resume()
	case Withheld:
		for i := range bitset.Numbers([]proto.Range{ev.Range}, s.layout.Count) {
			if s.stored.Withhold(i) {
				s.announceLoss(i)
			}
		}
	case Offered:
		for i := range bitset.Numbers([]proto.Range{ev.Range}, s.layout.Count) {
			if s.stored.Offer(i) {
				s.announce(i, avail.Have)
			}
		}
	case Failed:
		s.picker.Apply(ev)
		switch n := len(ev.Sources); {
		case n > 1: // the piece is fetched again from one peer, to find the source
			s.book.Failed(ev.Piece)
		case n == 1:
			s.recordBad(ev.Sources[0], ev.Piece, ev.Forged)
		}
	case Blamed:
		s.recordBad(ev.Peer, ev.Piece, false)
	case Checked:
		s.onChecked(ev)
	case Liar:
		s.onLiar(ev.Peer)
	}
	_, ticked := ev.(Tick)
	if ticked {
		s.book.Ticked(now)
	}
	if ticked && s.due.Expired(timer.Health, now) {
		s.due[timer.Health] = now.Add(s.healthInterval())
		s.health()
	}
	s.roster.Connect(!s.complete)
	s.applyChanges()
	if ticked {
		s.endTurns() // what has come was heard before
	}
	s.fill()
	s.batches.Flush(now, func(to proto.PeerID, m *proto.Have) { s.do(Send{Peer: to, Message: m}) })
	s.book.Expect(now.Add(s.Wake()))
	return s.out
}

// Wake implements [Strategy].
func (s *State) Wake() time.Duration { return max(s.due.Next().Sub(s.now), time.Millisecond) }

func (s *State) do(a Action) { s.out = append(s.out, a) }

func (s *State) send(p *peer, m proto.Message) { s.do(Send{Peer: p.ID, Message: m}) }

func (s *State) onReceived(id proto.PeerID, m proto.Message) {
	p := s.joined[id]
	if p == nil {
		return
	}
	s.roster.Seen()
	s.applyChanges()
	p.LastSeen = s.now
	if p.Silent {
		s.setSilent(p, false)
	}
	if !p.Affords(s.now, m, s.layout.Count, len(s.fetches)) {
		s.drop(p, proto.CodeBanned, "too many messages")
		return
	}
	switch m := m.(type) {
	case *proto.Have:
		s.roster.Working(p.node)
		s.onHave(p, m)
	case *proto.Want:
		s.onWant(p, m)
	case *proto.Reject:
		s.onReject(p, m.Span)
	case *proto.Steal:
		s.onSteal(p, m.Rate)
	case *proto.Give: // the drops of what it gives have come before
		if s.stealing == p.ID {
			s.stealing = ""
		}
	case *proto.Ping:
		s.onPing(p, m.Nonce)
	case *proto.Pong:
		s.onPong(p, m.Nonce)
	case *proto.Bad: // [Checked] follows
	default:
		s.drop(p, proto.CodeProtocol, "unexpected message")
	}
}

// store records a verified piece, and announces it unless it is withheld.
func (s *State) store(i int) {
	if !s.stored.Have.Add(i) {
		return
	}
	s.stored.Touch(i)
	for _, l := range s.levels {
		if l.Holders[i] == 0 {
			s.gained(l, i)
		}
	}
	if f := s.fetches[i]; f != nil {
		if f.peer != nil && !s.layout.Whole { // a coded block may still be false
			f.peer.AddGood()
			s.ration(f.peer)
		}
		s.endFetch(f)
	}
	s.book.Stored(i)
	s.wanted.Remove(i)
	s.announce(i, avail.Have)
	s.checkComplete()
}

func (s *State) checkComplete() {
	if s.finished || s.cfg.Growing || !s.stored.Have.Full() {
		return
	}
	s.finished = true
	s.do(Finished{})
	if s.complete {
		return
	}
	s.complete = true
	for _, p := range s.peers {
		s.sendWant(p)
		if p.Have.Full() && s.layout.Count > 0 {
			// It may count the complete nodes, whatever it subscribed to. A peer that fetches is not sent this, since
			// it would request pieces that are assigned to other nodes.
			s.send(p, &proto.Have{Have: []proto.Range{{Count: uint32(s.layout.Count)}}})
		}
	}
}

// resume continues after a piece of a complete node was lost.
func (s *State) resume() {
	if s.stored.Have.Full() {
		return
	}
	s.finished = false
	if !s.complete || s.cfg.UploadOnly {
		return
	}
	s.complete = false
	for _, p := range s.peers {
		s.sendWant(p)
	}
	s.reconsiderAll()
	s.checkSoon()
}
