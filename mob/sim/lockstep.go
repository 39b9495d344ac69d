package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/proto"
)

// lockstep is a run of [Rounds].
type lockstep struct {
	rng      *rand.Rand // of coded blocks
	topology *permutation.Topology
	schedule *permutation.Schedule
	members  []*member
	round    int   // the last one that has ended
	missing  []int // by generation: the members that have not announced it
	// offers are the members that have chosen a receiver for the next round, by the number
	// of successors that they skipped.
	offers [][]*member
	news   []announcement // of the round that ends
	report RoundsReport
}

// member is a node of the cluster, in the order of the topology.
type member struct {
	place       int
	rng         *rand.Rand // of plain blocks
	generations []progress

	// The choice of a receiver for the next round, which becomes the transfer in that
	// round; to is nil while there is none.
	to                *member
	generation, block int
	looked            int       // successors looked at for this round
	tried             []*member // of these, the ones that needed a block

	incoming *transfer // what it receives in this round
}

// progress is the state of a generation at a member.
type progress struct {
	holding
	received int // blocks
	complete bool
	// The announcements of the member: that it is complete, and its plain blocks, nil for
	// none.
	announced      bool
	announcedPlain *bitset.Set
}

// transfer is a block in transit.
type transfer struct {
	generation int
	block
}

// announcement is sent by a member to all other nodes at the end of a round: a generation is
// complete, or its plain blocks.
type announcement struct {
	by         *member
	generation int
	has        *bitset.Set
}

func newLockstep(c *Rounds) *lockstep {
	s := &lockstep{
		rng:      rand.New(rand.NewPCG(c.Seed, 0x726f756e)),
		schedule: permutation.NewSchedule(c.Strategy, c.Blocks, c.Nodes),
		missing:  slices.Repeat([]int{c.Nodes - 1}, len(c.Blocks)),
		report: RoundsReport{
			Finished:    make([]int, c.Nodes),
			Missing:     c.Nodes - 1,
			Generations: make([]int, len(c.Blocks)),
		},
	}
	ids := make([]proto.PeerID, c.Nodes)
	for i := range ids {
		ids[i] = proto.PeerID(fmt.Sprintf("%08d", i))
		s.members = append(s.members, newMember(c, i))
	}
	s.topology = permutation.NewTopology(c.Seed, ids)
	for _, m := range s.members {
		s.turn(m)
	}
	return s
}

func newMember(c *Rounds, place int) *member {
	m := &member{place: place, rng: rand.New(rand.NewPCG(c.Seed<<16+uint64(place), 0x626c6f63))}
	source := place == 0
	for _, k := range c.Blocks {
		m.generations = append(m.generations, progress{
			holding:   newHolding(k, c.plain(), source),
			complete:  source,
			announced: source,
		})
	}
	return m
}

// turn has a member choose a receiver for the next round.
func (s *lockstep) turn(m *member) {
	m.to, m.tried = nil, m.tried[:0]
	s.choose(m)
}

// choose goes through the successors of a member that has no receiver yet, from the
// permutation of the next round on.
func (s *lockstep) choose(m *member) {
	if m.to == nil {
		m.looked = 0
		s.seek(m)
	}
}

// seek continues to the next successor that has a use for a block.
func (s *lockstep) seek(m *member) {
	first, second := s.schedule.At(s.oldest(m), s.round+1)
	for m.looked < permutation.Length {
		to := s.members[s.topology.Successor(s.round+1+m.looked, m.place)]
		m.looked++
		if slices.Contains(m.tried, to) {
			continue
		}
		for _, g := range [...]int{first, second} {
			number, ok := m.pick(to, g)
			if !ok {
				continue
			}
			m.to, m.generation, m.block = to, g, number
			m.tried = append(m.tried, to)
			skipped := m.looked - 1
			for len(s.offers) <= skipped {
				s.offers = append(s.offers, nil)
			}
			s.offers[skipped] = append(s.offers[skipped], m)
			return
		}
	}
}

// oldest is the first generation that some member does not have, as far as m knows.
func (s *lockstep) oldest(m *member) int {
	for g, missing := range s.missing {
		h := &m.generations[g]
		if h.complete && !h.announced {
			missing--
		}
		if missing > 0 {
			return g
		}
	}
	return len(s.missing)
}

// pick chooses a block of a generation for another member: any coded one, or a plain one
// that it does not have as far as m knows.
func (m *member) pick(to *member, g int) (number int, ok bool) {
	if g == permutation.None || to.generations[g].announced {
		return 0, false
	}
	h := &m.generations[g]
	if h.plain != nil {
		return h.plain.Pick(to.generations[g].announcedPlain, m.rng.IntN)
	}
	return 0, h.complete || h.received > 0
}

// match assigns senders to receivers for the next round: members with fewer skipped successors come
// first.
func (s *lockstep) match() {
	for skipped := 0; skipped < len(s.offers); skipped++ {
		for i := 0; i < len(s.offers[skipped]); i++ {
			m := s.offers[skipped][i]
			if m.to.incoming == nil && !m.to.generations[m.generation].complete {
				s.send(m)
				continue
			}
			m.to = nil
			s.seek(m)
		}
		s.offers[skipped] = s.offers[skipped][:0]
	}
}

// send puts a block in transit. A plain one is chosen again: the receiver may have announced more
// since.
func (s *lockstep) send(m *member) {
	if number, ok := m.pick(m.to, m.generation); ok {
		m.block = number
	}
	b := m.generations[m.generation].block(m.block, s.rng)
	m.to.incoming = &transfer{m.generation, b}
	s.report.Sent++
}

// endRound delivers the blocks of a round, and has every member choose for the next before
// it receives the announcements of the round.
func (s *lockstep) endRound() {
	var senders []*member
	for _, m := range s.members {
		if m.to != nil {
			senders = append(senders, m)
		} else {
			s.turn(m)
		}
	}
	for _, m := range s.members {
		s.receive(m)
	}
	for _, m := range senders {
		s.turn(m)
	}
	for _, a := range s.news {
		s.receiveNews(a)
	}
	s.news = s.news[:0]
}

// receive takes the block that a member was sent in this round, which it may send
// on.
func (s *lockstep) receive(m *member) {
	x := m.incoming
	if x == nil {
		return
	}
	m.incoming = nil
	h := &m.generations[x.generation]
	useful := h.add(x.block)
	h.received++
	if !useful {
		s.report.Useless++
	}
	if h.plain != nil && !h.full() && h.received%permutation.MapEvery == 0 {
		s.news = append(s.news, announcement{m, x.generation, h.plain.Clone()})
	}
	s.choose(m)
	if !useful || !h.full() {
		return
	}
	h.complete = true
	s.news = append(s.news, announcement{by: m, generation: x.generation})
	s.report.Generations[x.generation] = s.round
	if !slices.ContainsFunc(m.generations, func(h progress) bool { return !h.complete }) {
		s.report.Finished[m.place] = s.round
		s.report.Missing--
	}
}

// receiveNews gives all members an announcement.
func (s *lockstep) receiveNews(a announcement) {
	h := &a.by.generations[a.generation]
	if a.has != nil {
		h.announcedPlain = a.has
		return
	}
	h.announced = true
	s.missing[a.generation]--
	for _, m := range s.members {
		if m != a.by {
			s.choose(m)
		}
	}
}
