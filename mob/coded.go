package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/proto"
)

// In a coded transfer the content is cut into generations of k source blocks, and what
// is fetched are blocks that stand for linear combinations of those of a generation:
// any k of them that are linearly independent give it back (Cooper, section 3). Each
// generation has names for more blocks than k. Whoever has it whole makes the block of
// any name; who has a part of it passes its blocks on as they are.
//
// To the State names are pieces: number i is name i%N of generation i/N. Claims,
// haves and steals are as ever, and blocks are never cut. But a mob fetches no more
// than k of the names of a generation over the WAN, it does not matter which, and a
// member's share of them is a number. So mobs that fetch from the source at a time get
// different blocks, without having heard of each other's claims, and all are of use
// to all.

// Coding says how a transfer is coded; the zero value is for plain pieces.
type Coding struct {
	// Blocks is how many source blocks of PieceLength bytes a generation has, k. The
	// last may have fewer.
	Blocks int
	// Names is how many blocks of a generation have a name, N, more than k. Those below
	// k are the source blocks themselves.
	Names int
	// Live is how many generations the node works on at a time, which bounds its
	// memory.
	Live int
}

// coded says whether a transfer is.
func (c *Coding) coded() bool { return c.Blocks > 0 }

// coding is the progress of a coded transfer.
type coding struct {
	Coding
	source  int // source blocks of the content
	all     int // generations
	live    []*generation
	under   []*generation // by number; nil where none is live
	next    int           // the first generation that was not begun
	fetched *bitset.Set   // blocks that the node got over the WAN
	spent   *bitset.Set   // names that are of no use: what the node has gives their blocks
}

// generation is one that the node works on.
type generation struct {
	number int
	blocks int  // source blocks
	have   int  // blocks that the node has
	came   int  // blocks that were news to the mob
	plain  bool // its source blocks are to be fetched, which can be checked
	// doubted are blocks of which a false one came: the mob has to get them anew, though
	// members may have what came as well.
	doubted map[int]bool
	givers  map[int]*peer // who sent the blocks that the node has
	stale   bool          // the survey is to be made, anew
	survey
}

// survey is what of a generation is there, and where.
type survey struct {
	asked int // blocks on their way here
	wan   int // of what is here and on its way, what came over the WAN
	mob   int // blocks that the mob has, or that are on their way to it
	about int // blocks that the mob or others have, but not only those who have all
	loose int // the same within the mob
	// near and far count the local peers, and the other clusters, that have all of it.
	near, far uint16
}

func newCoding(c *Config) coding {
	g := coding{Coding: c.Coding, source: int((c.Length + int64(c.PieceLength) - 1) / int64(c.PieceLength))}
	if g.coded() {
		g.all = (g.source + g.Blocks - 1) / g.Blocks
		g.under = make([]*generation, g.all)
		g.fetched, g.spent = bitset.New(g.all*g.Names), bitset.New(g.all*g.Names)
	}
	return g
}

// numbers is how many pieces or blocks the State knows.
func (c *coding) numbers() int {
	if c.coded() {
		return c.all * c.Names
	}
	return c.source
}

// lacking is how many a node lacks that has some.
func (c *coding) lacking(have *bitset.Set) int {
	if c.coded() {
		return max(0, c.source-have.Len()/c.Names*c.Blocks)
	}
	return c.source - have.Len()
}

// at is the generation of a block, nil if it is not under way, as none is in plain
// transfers.
func (c *coding) at(i int) *generation {
	if i < 0 || i >= len(c.under)*c.Names {
		return nil
	}
	return c.under[i/c.Names]
}

// names is the range of the names of a generation.
func (c *coding) names(number int) (first, end int) {
	return number * c.Names, (number + 1) * c.Names
}

// begin takes up further generations while few are under way.
func (s *State) begin() {
	c := &s.coding
	for ; len(c.live) < c.Live && c.next < c.all; c.next++ {
		first, end := c.names(c.next)
		if s.have.Has(first) || c.at(first) != nil {
			continue
		}
		g := &generation{
			number: c.next, blocks: min(c.Blocks, c.source-c.next*c.Blocks), doubted: map[int]bool{}, givers: map[int]*peer{}, stale: true,
		}
		c.live, c.under[c.next] = append(c.live, g), g
		for i := first; i < end; i++ {
			if s.have.Has(i) {
				g.have++
			} else {
				s.todo.Add(i)
			}
		}
		s.wake()
	}
}

// wake has every peer looked at for something to be asked for.
func (s *State) wake() {
	for _, p := range s.peers {
		p.idle = false
		s.revive(p)
	}
}

// decoded notes that a generation is whole, verified and on disk: the node has the
// blocks of all its names. Those that it had are told again, as one with the others: who
// speaks of plain pieces was not told of what is not verified.
func (s *State) decoded(number int) {
	c := &s.coding
	if number < 0 || number >= c.all {
		return
	}
	c.live = slices.DeleteFunc(c.live, func(g *generation) bool { return g.number == number })
	c.under[number] = nil
	first, end := c.names(number)
	for i := first; i < end; i++ {
		if s.have.Has(i) {
			s.tell(i, tellHave)
		}
		s.stored(i)
	}
	s.begin()
}

// useless notes that a block brought nothing.
func (s *State) useless(i int) {
	if !s.coding.coded() || s.have.Has(i) {
		return
	}
	s.giveUp(i)
	s.todo.Remove(i)
	if s.coding.spent.Add(i) {
		s.touch(i)
	}
	s.wake()
}

// polluted takes back a generation some of whose blocks were not what they were said to
// be. Its source blocks can be checked one by one.
func (s *State) polluted(number int) {
	first, end := s.coding.names(number)
	g := s.coding.at(first)
	if g == nil {
		return
	}
	g.plain, g.have, g.stale = true, 0, true
	for i := first; i < end; i++ {
		s.giveUp(i)
		s.todo.Remove(i)
		s.coding.spent.Remove(i)
		if s.have.Remove(i) {
			s.tellLost(i)
		}
	}
	s.todo.AddRange(first, first+g.blocks)
	s.wake()
}

// doubt notes that a block was false, as it came from p. Others of the mob may have the
// same, from p or from each other: asking each of them in turn might never end. So it is
// asked for as if nobody of the mob had it, and of p only after a while.
func (s *State) doubt(g *generation, i int, p *peer) {
	g.doubted[i], g.stale = true, true
	if p != nil && s.joined[p.ID] == p {
		s.notBefore(p, i, s.t.Stall)
	}
}

// doubted says whether a false block came in the place of this one.
func (s *State) doubted(i int) bool {
	g := s.coding.at(i)
	return g != nil && g.doubted[i]
}

// lostBlock takes note of a block that is not there any more. What followed from it and
// others is news again. A generation of which the node has nothing left is begun again.
func (s *State) lostBlock(i int) {
	c := &s.coding
	number := i / c.Names
	first, end := c.names(number)
	if g := c.at(i); g != nil {
		g.have--
		s.doubt(g, i, g.givers[i])
		for j := first; j < end; j++ {
			if c.spent.Remove(j) {
				s.todo.Add(j)
			}
		}
		s.todo.Add(i)
		s.wake()
		return
	}
	if s.have.Count(first, end) == 0 {
		s.inflow.lacking += min(c.Blocks, c.source-number*c.Blocks)
		c.next = min(c.next, number)
		s.begin()
	}
}

// liar bans a node that makes wrong blocks, which may have come by others.
func (s *State) liar(id proto.PeerID) {
	if p := s.joined[id]; p != nil {
		s.ban(p)
	} else if n := s.byID[id]; n != nil {
		n.banned = true
	}
}

// touch has a generation surveyed anew, of which a block is where it was not, or not
// where it was.
func (s *State) touch(i int) {
	if g := s.coding.at(i); g != nil {
		g.stale = true
	}
}

// look surveys the generations under way of which anything changed.
func (s *State) look() {
	for _, g := range s.coding.live {
		if g.stale {
			g.survey, g.stale = s.surveyed(g), false
		}
	}
}

// surveyed is the survey of a generation.
func (s *State) surveyed(g *generation) (v survey) {
	c := &s.coding
	first, end := c.names(g.number)
	for _, h := range s.held {
		if h.pieces.Count(first, end) == c.Names {
			v.far++
		}
	}
	for _, p := range s.peers {
		if p.local && p.have.Count(first, end) == c.Names {
			v.near++
		}
	}
	if g.plain {
		end = first + g.blocks
	}
	for i := first; i < end; i++ {
		s.count(&v, i)
	}
	return v
}

// count takes a block into the survey.
func (s *State) count(v *survey, i int) {
	f, have := s.fetches[i], s.have.Has(i)
	wan := f != nil && f.wan
	if f != nil {
		v.asked++
	}
	if f != nil || have || s.claims[i] > 0 || s.holders[i] > v.near {
		v.loose++
	}
	if wan || s.coding.fetched.Has(i) {
		v.wan++
	}
	switch {
	case wan, have, !s.free(i) && !s.coding.spent.Has(i):
		v.mob++
		v.about++
	case s.rarity[i] > v.far:
		v.about++
	}
}

// blockKey is key for a block of a coded transfer.
//
// Who has a whole generation could fill it alone, and would do so for every mob, while
// mobs wait for each other. So once as many of its blocks are about as it takes, further
// ones are asked for last; within the mob as well as between mobs. Over the WAN a block is
// asked for only while the mob lacks one, and by those first whose share of them is not
// there.
func (s *State) blockKey(p *peer, i int) (key int, ok bool) {
	const last = 1 << 17
	g := s.coding.at(i)
	if g == nil || g.have+g.asked >= g.blocks {
		return 0, false
	}
	if _, later := p.turns[i]; later {
		return 0, false
	}
	if first, end := s.coding.names(g.number); g.plain && p.have.Count(first, end) < s.coding.Names {
		key = 1 << 20 // what it has may be false as well; but members that repair it wait for each other
	}
	if p.local {
		key += int(s.holders[i])
		if g.loose >= g.blocks && s.holders[i] <= g.near {
			key += last
		}
		return key, true
	}
	if !s.free(i) || g.mob >= g.blocks {
		return 0, false
	}
	key += 2 * int(s.rarity[i])
	if g.about >= g.blocks && s.rarity[i] <= g.far {
		key += last
	}
	if first, end := ranks.Share(g.blocks, (s.rank+g.number)%s.size, s.size); g.wan >= end-first {
		key++
		if s.quick(p) {
			key += 1 << 16
		}
	}
	return key, true
}

// tooMany takes a block back that is more than the mob needs of a generation, when two
// members asked for the last one while their news crossed: the one with the lesser id
// goes on.
func (s *State) tooMany(p *peer, i int) {
	g := s.coding.at(i)
	if g == nil || p.ID > s.cfg.Self {
		return
	}
	if s.look(); g.mob <= g.blocks {
		return
	}
	var last *fetch
	first, end := s.coding.names(g.number)
	for j := first; j < end; j++ {
		if f := s.fetches[j]; f != nil && f.wan && s.free(j) && (last == nil || f.started.After(last.started)) {
			last = f
		}
	}
	if last != nil {
		s.giveUp(last.piece)
		s.todo.Add(last.piece)
	}
}

// lacksAny says whether the mob lacks a block of a generation under way, and lagging how
// many the node lacks that others of the mob have.
func (s *State) lacksAny() bool {
	s.look()
	return slices.ContainsFunc(s.coding.live, func(g *generation) bool { return g.mob < g.blocks })
}

func (s *State) lagging() int {
	s.look()
	n := 0
	for _, g := range s.coding.live {
		n += max(0, min(g.mob, g.blocks)-g.have-g.asked)
	}
	return n
}
