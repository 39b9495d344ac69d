package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/mob/session"
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

	session.Table
	out      []Action // of this step
	batches  avail.Batches
	finished bool // all pieces are stored

	stealing proto.PeerID
	book     conduct.Book

	started time.Time // the first step
	fetched time.Time // the last check with a piece in progress, or the first step
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
		picker = newPieces(cfg.Length, cfg.PieceLength, cfg.Together)
	}
	layout := picker.Layout()
	if layout.Size <= 0 || layout.Size%proto.Cell != 0 {
		panic("mob: piece length is not a multiple of 16 KiB")
	}
	s := &State{
		cfg:    cfg,
		picker: picker,
		Table:  session.NewTable(&cfg.Tuning, layout, cfg.Assignment, cfg.Seed, have),
	}
	s.Complete = cfg.UploadOnly
	self := Node{ID: cfg.Self, Cluster: cfg.Cluster}
	s.roster = roster.New(self, &s.Tuning.Settings, &s.Tuning.Rules, s.Work, s.Rand, &s.Due, cfg.Length, layout.Share)
	var groups []string
	for _, g := range s.roster.Groups {
		s.AddLevel(g, picker.Unverified)
		groups = append(groups, g.Name)
	}
	s.Work.Start(layout.Count, groups, &s.Tuning.Rules, &s.book, func(level, i int) bool {
		return s.Levels[level].Holders[i] > 0 || s.Levels[level].Claims[i] > 0
	})
	s.batches = avail.NewBatches(&s.Tuning.Batching, s.roster.Groups[0], &s.Due)
	picker.Attach(&Control{&s.Table, s})
	return s
}

// Step implements [Strategy].
func (s *State) Step(now time.Time, ev Event) []Action {
	s.Now, s.roster.Now, s.out = now, now, s.out[:0]
	if s.started.IsZero() {
		s.started, s.fetched, s.Due[timer.Health] = now, now, now
		s.roster.Start()
		s.checkComplete()
	}
	switch ev := ev.(type) {
	case Learned:
		if ev.Hearsay {
			s.roster.Named(ev.Nodes)
		} else {
			s.roster.Learned(ev.Nodes, !s.Complete)
		}
		s.applyChanges()
	case Joined:
		s.onJoined(ev.Node)
		if p := s.Joined[ev.Node.ID]; p != nil && ev.Whole {
			s.onHave(p, &proto.Have{Have: []proto.Range{{Count: uint32(s.Layout.Count)}}})
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
		for i := range bitset.Numbers([]proto.Range{ev.Range}, s.Layout.Count) {
			if s.Stored.Withhold(i) {
				s.announceLoss(i)
			}
		}
	case Offered:
		for i := range bitset.Numbers([]proto.Range{ev.Range}, s.Layout.Count) {
			if s.Stored.Offer(i) {
				s.announce(i, avail.Have)
				for _, p := range s.Peers {
					s.sendComplete(p)
				}
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
	if ticked && s.Due.Expired(timer.Health, now) {
		s.Due[timer.Health] = now.Add(s.HealthInterval())
		s.health()
	}
	s.roster.Connect(!s.Complete)
	s.applyChanges()
	if ticked {
		for _, f := range s.EndTurns() { // what has come was heard before
			s.unassign(f)
		}
	}
	s.fill()
	s.batches.Flush(now, func(to proto.PeerID, m *proto.Have) { s.do(Send{Peer: to, Message: m}) })
	s.book.Expect(now.Add(s.Wake()))
	return s.out
}

// Wake implements [Strategy].
func (s *State) Wake() time.Duration { return max(s.Due.Next().Sub(s.Now), time.Millisecond) }

func (s *State) do(a Action) { s.out = append(s.out, a) }

func (s *State) send(p *session.Peer, m proto.Message) { s.do(Send{Peer: p.ID, Message: m}) }

func (s *State) onReceived(id proto.PeerID, m proto.Message) {
	p := s.Joined[id]
	if p == nil {
		return
	}
	s.roster.Seen()
	s.applyChanges()
	p.LastSeen = s.Now
	if p.Silent {
		s.setSilent(p, false)
	}
	if !p.Affords(s.Now, m, s.Layout.Count, len(s.Fetches)) {
		s.drop(p, proto.CodeBanned, "too many messages")
		return
	}
	switch m := m.(type) {
	case *proto.Have:
		s.roster.Working(p.Node)
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
	case *proto.Bad, *proto.Members, *proto.Hosts: // [Checked] or [Learned] follows
	default:
		s.drop(p, proto.CodeProtocol, "unexpected message")
	}
}

// store records a verified piece, and announces it unless it is withheld.
func (s *State) store(i int) {
	if !s.Stored.Have.Add(i) {
		return
	}
	s.Stored.Touch(i)
	for _, l := range s.Levels {
		if l.Holders[i] == 0 {
			s.gained(l, i)
		}
	}
	if f := s.Fetches[i]; f != nil {
		if f.Peer != nil && !s.Layout.Whole { // a coded block may still be false
			f.Peer.AddGood()
			s.ration(f.Peer)
		}
		s.endFetch(f)
	}
	s.book.Stored(i)
	s.Wanted.Remove(i)
	s.batches.Stored(s.Now, len(s.Peers), s.Wanted.Len()+len(s.Fetches))
	s.announce(i, avail.Have)
	s.checkComplete()
}

func (s *State) checkComplete() {
	if s.finished || s.cfg.Growing || !s.Stored.Have.Full() {
		return
	}
	s.finished = true
	s.do(Finished{})
	fetched := !s.Complete
	s.Complete = true
	for _, p := range s.Peers {
		if fetched {
			s.sendWant(p)
		}
		s.sendComplete(p)
	}
}

// sendComplete announces all pieces to a complete peer if the node offers all of them. The peer counts the complete nodes,
// and is subscribed to nothing. A peer that fetches is not sent this, since it would request pieces that are assigned to
// other nodes.
func (s *State) sendComplete(p *session.Peer) {
	if s.Stored.OffersAll() && p.Have.Full() {
		s.send(p, &proto.Have{Have: []proto.Range{{Count: uint32(s.Layout.Count)}}})
	}
}

// resume continues after a piece of a complete node was lost.
func (s *State) resume() {
	if s.Stored.Have.Full() {
		return
	}
	s.finished = false
	if !s.Complete || s.cfg.UploadOnly {
		return
	}
	s.Complete = false
	for _, p := range s.Peers {
		s.sendWant(p)
	}
	s.ReconsiderAll()
	s.CheckSoon()
}
