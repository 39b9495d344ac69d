package permutation

import (
	"slices"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// MapEvery is the number of blocks between two announcements of a node of the random-block
// baseline (Cooper, section 6.2: every other block is best).
const MapEvery = 2

// content has the node's blocks, and the needs of the members.
type content struct {
	have        *bitset.Set // the generations that are decoded
	generations []generation
	lacking     []int // by generation: the members, the node included, that need more of it
	awaited     []int // those of them that the others wait for
	oldest      int   // the first generation that is awaited, or else that a member lacks
	finished    bool  // Finished was reported
}

// generation has the node's blocks of a generation.
type generation struct {
	filled   bool        // no more blocks are needed; so it is when decoded
	damaged  bool        // decoded, and damaged since: it cannot be sent until it is decoded again
	received int         // blocks
	plain    *bitset.Set // which ones, where blocks are plain
}

func newContent(cfg *Config) content {
	n := len(cfg.Blocks)
	c := content{
		have:        bitset.New(n),
		generations: make([]generation, n),
		lacking:     make([]int, n),
		awaited:     make([]int, n),
	}
	for _, g := range cfg.Have {
		c.have.Add(g)
	}
	for g, k := range cfg.Blocks {
		has := &c.generations[g]
		has.filled = c.have.Has(g)
		if cfg.Strategy == proto.RandomBlock {
			has.plain = bitset.New(k)
		}
		if has.plain != nil && has.filled {
			has.plain.AddRange(0, k)
		}
	}
	return c
}

// valid reports whether there is such a generation: numbers come from peers.
func (c *content) valid(g int) bool { return g >= 0 && g < len(c.generations) }

// enough lists the generations that the node needs no more blocks of.
func (c *content) enough() (list []proto.Range) {
	for g := range c.generations {
		if c.generations[g].filled {
			list = bitset.Append(list, g)
		}
	}
	return list
}

// gathered records a block that a peer sent, confirms it, and pushes if the node had nothing to send.
func (s *State) gathered(ev mob.Gathered) {
	s.hear(ev.Round)
	if s.valid(ev.Generation) {
		has := &s.generations[ev.Generation]
		has.received++
		if has.plain != nil {
			has.plain.Add(ev.Block)
			if has.received%MapEvery == 0 && !has.plain.Full() {
				s.announceMap(ev.Generation)
			}
		}
	}
	if m := s.members[ev.Peer]; m != nil && m.joined {
		s.send(ev.Peer, &proto.Taken{})
	}
	s.push()
}

// filled records that the node needs no more blocks of a generation.
func (s *State) filled(g int) {
	if !s.valid(g) || s.generations[g].filled {
		return
	}
	s.generations[g].filled = true
	s.sendAll(&proto.Decoded{Generations: only(g)})
	s.addNeed(g, s.place, -1)
	s.findOldest()
}

// decoded records that the node has all of a generation, again if it was damaged.
func (s *State) decoded(g int) {
	if !s.valid(g) {
		return
	}
	s.filled(g)
	s.have.Add(g)
	has := &s.generations[g]
	if has.damaged = false; has.plain != nil {
		has.plain.AddRange(0, has.plain.Cap())
	}
	s.membersChanged() // the node may be the one to draw now
}

// dropped records that the blocks of a generation are dropped: a hash was wrong, or they were damaged
// after they had been decoded.
func (s *State) dropped(g int) {
	if !s.valid(g) {
		return
	}
	has := &s.generations[g]
	has.damaged, has.received = s.have.Has(g), 0
	if has.filled && !has.damaged {
		has.filled = false
		s.sendAll(&proto.Decoded{Lost: only(g)})
		s.addNeed(g, s.place, 1)
		s.findOldest()
	}
	if has.plain != nil {
		has.plain.Clear()
		s.announceMap(g)
	}
}

// announceMap announces the plain blocks of a generation that the node has to all members.
func (s *State) announceMap(g int) {
	set := s.generations[g].plain
	blocks := make([]byte, (set.Cap()+7)/8)
	for j := range set.All() {
		blocks[j/8] |= 1 << (j % 8)
	}
	s.sendAll(&proto.Holds{Generation: uint32(g), Blocks: blocks})
}

// only is the range of a single generation.
func only(g int) []proto.Range { return []proto.Range{{First: uint32(g), Count: 1}} }

// count counts again the members that need each generation, after the permutations have changed.
func (s *State) count() {
	clear(s.lacking)
	clear(s.awaited)
	for g := range s.generations {
		if !s.generations[g].filled {
			s.addNeed(g, s.place, 1)
		}
	}
	s.findOldest()
	for place, m := range s.places {
		if m != nil {
			s.addNeeds(m, place, 1)
		}
	}
}

// addNeeds counts one member more, or less, that needs the generations that m does.
func (s *State) addNeeds(m *member, place, by int) {
	for g := range s.lacking {
		if !m.complete.Has(g) {
			s.addNeed(g, place, by)
		}
	}
	s.findOldest()
}

// addNeed counts one member more, or less, that needs a generation. Other members may wait for it: see since.
func (s *State) addNeed(g, place, by int) {
	s.lacking[g] += by
	if g >= s.since(place) {
		s.awaited[g] += by
	}
}

func (s *State) findOldest() {
	some := func(n int) bool { return n > 0 }
	if s.oldest = slices.IndexFunc(s.awaited, some); s.oldest >= 0 {
		return
	}
	if s.oldest = slices.IndexFunc(s.lacking, some); s.oldest < 0 {
		s.oldest = len(s.lacking)
	}
}

// recount counts a peer more, or less, that needs a generation.
func (s *State) recount(m *member, g, by int) {
	if place, ok := s.topology.Place(m.ID); ok {
		s.addNeed(g, place, by)
		s.findOldest()
	}
	s.push()
}
