package swarm

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// loop runs the strategy until the swarm ends.
func (s *Swarm) loop() {
	tick := time.NewTimer(0)
	defer tick.Stop()
	due := time.Now() // the next tick, which events do not put off
	for _, piece := range slices.Concat(s.cfg.Unreadable, s.cfg.LeftOut) {
		s.step(mob.Withheld{Range: s.codec.Numbers(piece)})
	}
	for {
		select {
		case <-s.ctx.Done():
			for _, c := range s.byID {
				s.forget(c) // its connection ends with the context
			}
			return
		case e := <-s.inbox:
			e()
		case <-tick.C:
		}
		over := !time.Now().Before(due)
		if over {
			s.tick()
		}
		if at := time.Now().Add(s.strategy.Wake()); over || at.Before(due) {
			due = at
		}
		tick.Reset(time.Until(due))
	}
}

// inboxSize is the number of queued events beyond which post blocks.
const inboxSize = 1024

// post has the loop call an event, unless the swarm has ended. It blocks while the loop is behind, which
// applies back-pressure to readers of the network.
func (s *Swarm) post(event func()) {
	select {
	case s.inbox <- event:
	case <-s.ctx.Done():
	}
}

func (s *Swarm) join(c *session) { s.post(func() { s.onJoin(c) }) }

// tick sends the strategy a Tick, after all queued events.
func (s *Swarm) tick() {
	for range len(s.inbox) {
		(<-s.inbox)()
	}
	s.step(mob.Tick{})
	s.publishStatus(false)
}

// step hands an event to the strategy and carries out the actions that it returns.
func (s *Swarm) step(ev mob.Event) {
	for _, a := range s.strategy.Step(time.Now(), ev) {
		switch a := a.(type) {
		case mob.Send:
			s.send(a)
		case mob.Introduce:
			s.introduce(a)
		case mob.Dial:
			s.dial(a.Peer, a.Dead)
		case mob.Drop:
			s.drop(a)
		case mob.Push:
			s.push(a)
		case mob.Discard:
			s.wg.Go(func() { s.workers.Queue(s.ctx, &payload.Block{Lane: uint32(a.Piece)}) })
		case mob.Finished:
			s.AnnounceSoon()
			s.publishStatus(true)
			s.wg.Go(func() { s.cfg.Finished(s) })
		}
	}
}

// send sends a peer a message. A limit may hold a request back.
func (s *Swarm) send(a mob.Send) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	switch m := a.Message.(type) {
	case *proto.Request:
		s.request(c, m, a.Made)
		return
	case *proto.Cancel:
		if s.withdraw(c, m.Span) {
			return
		}
		c.pending.Cancel(m.Span)
	}
	c.conn.send(a.Message)
}

// push queues a block that the peer did not request.
func (s *Swarm) push(a mob.Push) {
	if c := s.nodePeer(a.Peer); c != nil {
		c.uploads.Add(s.pusher.Push(a))
	}
}
