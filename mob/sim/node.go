package sim

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/coded"
	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// node is a strategy and its caller: connections, a store, and a queue of blocks to send.
type node struct {
	index, cluster, site int
	mob.Node
	strategy   mob.Strategy
	alive      bool // started and not killed
	corrupts   bool
	lossy      bool
	claimsOnly bool // see Faults.Claimers and Faults.Boasters
	trickles   bool
	slow       bool
	wakesAt    time.Duration // when a slow node next gets the CPU
	exempt     bool          // no node waits for it to be complete
	// dark is set if it was killed silently: dials to it time out.
	dark     bool
	finished time.Duration // 0 until complete

	conns       map[*node]*conn
	asked       map[uint32][]request // that are not answered, by piece
	store       *store
	ranks       map[int]*rlnc.Basis // by generation, in coded transfers
	generations []holding           // in permutation gossip

	// The sending side.
	queue   sendQueue
	sending *frame
	nic     float64
	in      pipe

	wakeAt time.Duration // when the next tick is due
	armed  time.Duration // when a tick event is pending, 0 for none
}

// conn is the connection of two nodes.
type conn struct {
	lost map[*node]*loss // by sender
}

// request is a span requested of a peer.
type request struct {
	peer *node
	proto.Span
}

// start starts the node.
func (n *node) start(s *sim, have []proto.Range) {
	n.alive = true
	switch {
	case s.cfg.Strategy.Gossip():
		n.strategy = n.newGossip(s, len(have) > 0)
	case n.claimsOnly:
		n.strategy = newClaimer(n.store.has.Cap(), slices.Contains(s.cfg.Faults.Claimers, n.index))
	default:
		tuning := mob.DefaultTuning()
		tuning.Session = s.cfg.Session
		cfg := mob.Config{
			Self:        n.ID,
			Cluster:     n.Cluster,
			Length:      s.cfg.Length,
			PieceLength: s.cfg.PieceLength,
			Together:    s.cfg.Together,
			Assignment:  assign.Follow(s.cfg.Plan, n.Host),
			Seed:        s.cfg.Seed + uint64(n.index),
			Tuning:      tuning,
		}
		if s.cfg.Coding.Blocks > 0 {
			cfg.Picker = coded.New(s.cfg.Length, s.cfg.PieceLength, s.cfg.Coding)
		}
		n.strategy = mob.New(cfg, have)
	}
	n.step(s, mob.Tick{})
	s.later(s.now+s.cfg.RTT, call(func() { n.askTracker(s) }))
}

// step gives the strategy an event and carries out its actions.
func (n *node) step(s *sim, ev mob.Event) {
	if !n.alive {
		return
	}
	s.result.Steps++
	for _, a := range n.strategy.Step(epoch.Add(s.now), ev) {
		n.carryOut(s, a)
	}
	n.wakeAt = s.now + n.strategy.Wake()
	if n.armed == 0 || n.wakeAt < n.armed {
		n.arm(s)
	}
}

// arm has the node woken when the next tick is due.
func (n *node) arm(s *sim) {
	at := n.wakeAt
	if n.slow {
		at = n.awake(s, s.now+1)
	}
	if at == n.armed {
		return
	}
	n.armed = at
	s.later(at, call(func() {
		if n.armed != at || !n.alive {
			return
		}
		n.armed = 0
		if s.now < n.wakeAt {
			n.arm(s)
			return
		}
		s.later(s.now, call(func() { n.step(s, mob.Tick{}) })) // after what has come
	}))
}

func (n *node) carryOut(s *sim, a mob.Action) {
	switch a := a.(type) {
	case mob.Send:
		n.send(s, s.byID[a.Peer], a.Message)
	case mob.Introduce:
		for _, m := range introduction(a.Members) {
			n.send(s, s.byID[a.Peer], m)
		}
	case mob.Dial:
		n.dial(s, s.byID[a.Peer])
	case mob.Drop:
		to := s.byID[a.Peer]
		if c := n.conns[to]; c != nil {
			n.disconnect(to)
			s.cross(&frame{conn: c, from: n, to: to, fin: true})
		}
		n.sendNext(s)
	case mob.Push:
		n.push(s, a)
	case mob.Discard:
		delete(n.store.parts, a.Piece)
		s.later(s.now, call(func() { n.step(s, mob.Failed{Piece: a.Piece}) }))
	case mob.Finished:
		if n.finished == 0 && n.index != 0 {
			n.finished = s.now
			s.complete++
		}
	}
}

// send sends a control message.
func (n *node) send(s *sim, to *node, m proto.Message) {
	c := n.conns[to]
	if c == nil {
		return
	}
	switch m := m.(type) {
	case *proto.Request:
		s.countRequest(n, to, m.Span)
		n.asked[m.Piece] = append(n.asked[m.Piece], request{to, m.Span})
	case *proto.Cancel:
		n.settle(to, m.Span)
	}
	s.cross(&frame{conn: c, from: n, to: to, message: m, size: s.frameSize(n, to, m)})
}

// settle forgets a request to a peer.
func (n *node) settle(peer *node, sp proto.Span) {
	requests := n.asked[sp.Piece]
	i := slices.Index(requests, request{peer, sp})
	switch {
	case i < 0:
	case len(requests) == 1:
		delete(n.asked, sp.Piece)
	default:
		n.asked[sp.Piece] = slices.Delete(requests, i, i+1)
	}
}

// introduction is the messages that carry members, with addresses of the size of one IPv4 multiaddr:
// those whose hosts' names are known with them.
func introduction(ns []mob.Node) []proto.Message {
	members, hosts := &proto.Members{}, &proto.Hosts{}
	addrs := [][]byte{make([]byte, 8)}
	for _, n := range ns {
		if n.Host == "" {
			members.Members = append(members.Members, proto.Member{ID: n.ID, Cluster: n.Cluster, Addrs: addrs})
		} else {
			hosts.Hosts = append(hosts.Hosts, proto.Host{Name: n.Host, ID: n.ID, Cluster: n.Cluster, Addrs: addrs})
		}
	}
	if len(hosts.Hosts) == 0 {
		return []proto.Message{members}
	}
	return []proto.Message{members, hosts}
}

// dialTimeout is the time that a dial to a silent node takes to fail.
const dialTimeout = 5 * time.Second

// dial connects after the round trips of TCP, TLS and Hello.
func (n *node) dial(s *sim, to *node) {
	rtt := s.rtt(n, to)
	at, ok := s.connectedAt(n, to)
	if to.dark || !ok {
		s.later(s.now+dialTimeout, call(func() { n.step(s, mob.Unreachable{Peer: to.ID}) }))
		return
	}
	s.later(at+3*rtt, call(func() {
		switch {
		case !n.alive || n.conns[to] != nil:
		case !to.alive:
			n.step(s, mob.Unreachable{Peer: to.ID})
		default:
			if to.conns[n] != nil { // the node has given that up
				to.disconnect(n)
				to.step(s, mob.Left{Peer: n.ID})
			}
			c := &conn{}
			n.conns[to], to.conns[n] = c, c
			to.step(s, mob.Joined{Node: n.Node, Whole: n.store.has.Full()})
			n.step(s, mob.Joined{Node: to.Node, Whole: to.store.has.Full()})
		}
	}))
}

// disconnect forgets a connection and what is queued for it.
func (n *node) disconnect(to *node) {
	delete(n.conns, to)
	for piece, requests := range n.asked {
		n.asked[piece] = slices.DeleteFunc(requests, func(r request) bool { return r.peer == to })
	}
	n.queue.forget(to)
}

// receive processes a control message.
func (n *node) receive(s *sim, f *frame) {
	switch m := f.message.(type) {
	case *proto.Request:
		n.serve(s, f, m.Span)
	case *proto.Cancel:
		n.queue.cancel(f.from, m.Span)
	case *proto.Bad:
		if n.store.has.Has(int(m.Piece)) {
			n.step(s, mob.Checked{Peer: f.from.ID, Piece: int(m.Piece), Alarm: true})
		}
	case *proto.Members:
		ns := make([]mob.Node, len(m.Members))
		for i, k := range m.Members {
			ns[i] = mob.Node{ID: k.ID, Cluster: k.Cluster}
		}
		n.step(s, mob.Learned{Nodes: ns, Hearsay: true})
	case *proto.Hosts:
		ns := make([]mob.Node, len(m.Hosts))
		for i, k := range m.Hosts {
			ns[i] = mob.Node{ID: k.ID, Cluster: k.Cluster, Host: k.Name}
		}
		n.step(s, mob.Learned{Nodes: ns, Hearsay: true})
	default:
		if r, ok := m.(*proto.Reject); ok {
			n.settle(f.from, r.Span)
		}
		n.step(s, mob.Received{Peer: f.from.ID, Message: m})
	}
}

// serve queues a block, or rejects the request.
func (n *node) serve(s *sim, f *frame, sp proto.Span) {
	if n.ignores(s) {
		return
	}
	if !n.store.has.Has(int(sp.Piece)) || n.lossy && s.rng.IntN(2) == 0 {
		s.result.Rejects++
		n.send(s, f.from, &proto.Reject{Span: sp})
		return
	}
	n.queue.add(&frame{
		conn: f.conn,
		from: n,
		to:   f.from,
		span: sp,
		bad:  n.corrupts,
		size: int(sp.Length) + proto.BlockHeader,
	})
	n.sendNext(s)
}

// sendNext starts to send the next block, unless one is being sent.
func (n *node) sendNext(s *sim) {
	if !n.alive || n.sending != nil {
		return
	}
	f := n.queue.next()
	if f == nil {
		return
	}
	n.sending = f
	if p := f.pushed; p != nil {
		p.block = n.generations[p.Generation].block(p.Push.Block, s.rng)
	}
	s.later(s.now+time.Duration(float64(f.size)/n.nic*1e9), f)
}

// receiveBlock stores a requested block, and verifies the piece when it was the last.
func (n *node) receiveBlock(s *sim, f *frame) {
	s.result.Duplicate += int64(int(f.span.Length) - n.store.missingBytes(f.span))
	n.settle(f.from, f.span)
	if n.hangs(s) {
		return
	}
	done := n.store.add(f)
	n.step(s, mob.Arrived{Peer: f.from.ID, Span: f.span})
	if done == nil {
		return
	}
	if s.cfg.Coding.Blocks > 0 {
		n.takeBlock(s, f)
		return
	}
	s.later(s.now, call(func() {
		if !n.alive {
			return
		}
		if len(done.corrupters) > 0 {
			s.result.Failed++
			if len(done.sources) > 1 {
				n.store.suspects[done.piece] = append(n.store.suspects[done.piece], done.corrupters...)
			}
			n.step(s, mob.Failed{Piece: done.piece, Sources: done.sources})
			return
		}
		n.store.has.Add(done.piece)
		s.stored(n, done.piece)
		n.step(s, mob.Stored{Piece: done.piece})
		for _, id := range n.store.suspects[done.piece] {
			n.step(s, mob.Blamed{Peer: id, Piece: done.piece})
		}
		delete(n.store.suspects, done.piece)
	}))
}

// kill ends the node.
func (n *node) kill(s *sim, silent bool) {
	n.alive, n.dark = false, silent
	n.queue = sendQueue{}
	for _, to := range s.nodes {
		if c := n.conns[to]; c != nil && !silent {
			s.cross(&frame{conn: c, from: n, to: to, fin: true})
		}
	}
	clear(n.conns)
}
