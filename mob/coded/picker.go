package coded

import (
	"slices"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/ranks"
)

// Coding configures a coded transfer.
type Coding struct {
	// Blocks is the number of source blocks of a generation, k. The last may have fewer.
	Blocks int
	// Names is the number of named blocks of a generation, N, more than k. The first k are
	// the source blocks.
	Names int
	// Piece is the number of source blocks in a piece, whose hash is known. Zero represents one.
	Piece int
	// Live is the number of generations that the node fetches concurrently, which bounds its memory.
	Live int
}

// Picker implements [mob.Picker] for a coded transfer.
type Picker struct {
	*mob.Control
	Coding
	size    int           // of a block
	sources int           // source blocks of the content
	live    []*generation // being fetched
	byGen   []*generation // the same by number, else nil
	next    int           // the first generation that was not started
	entered []*bitset.Set // blocks that the node received from outside of each group that it is in
	useless *bitset.Set   // blocks that are combinations of stored ones
}

// New returns the picker of length bytes in blocks of size bytes.
func New(length int64, size int, c Coding) *Picker {
	sources := int((length + int64(size) - 1) / int64(size))
	generations := (sources + c.Blocks - 1) / c.Blocks
	return &Picker{
		Coding:  c,
		size:    size,
		sources: sources,
		byGen:   make([]*generation, generations),
		useless: bitset.New(generations * c.Names),
	}
}

// Layout implements [mob.Picker].
func (k *Picker) Layout() mob.Layout {
	count := len(k.byGen) * k.Names
	return mob.Layout{
		Count: count, Size: k.size, Length: int64(count) * int64(k.size), Current: count,
		Whole: true, Batched: true,
	}
}

// Attach implements [mob.Picker].
func (k *Picker) Attach(c *mob.Control) {
	k.Control = c
	whole := c.Stored.Have.Count(0, len(k.byGen)*k.Names) / k.Names
	for _, l := range c.Levels {
		l.Inflow.Missing += max(0, k.sources-whole*k.Blocks)
		k.entered = append(k.entered, bitset.New(len(k.byGen)*k.Names))
	}
	k.start()
}

// at returns the generation of a number, nil if it is not being fetched.
func (k *Picker) at(i int) *generation {
	if i < 0 || i >= len(k.byGen)*k.Names {
		return nil
	}
	return k.byGen[i/k.Names]
}

// sourcesIn returns the number of source blocks of a generation.
func (k *Picker) sourcesIn(number int) int { return min(k.Blocks, k.sources-number*k.Blocks) }

// start starts further generations while few are being fetched.
func (k *Picker) start() {
	for ; len(k.live) < k.Live && k.next < len(k.byGen); k.next++ {
		if k.Stored.Have.Has(k.next*k.Names) || k.byGen[k.next] != nil {
			continue
		}
		g := &generation{
			number:  k.next,
			first:   k.next * k.Names,
			end:     (k.next + 1) * k.Names,
			blocks:  k.sourcesIn(k.next),
			corrupt: map[int][]*mob.Peer{},
			senders: map[int]*mob.Peer{},
			surveys: make([]survey, len(k.Levels)),
			stale:   true,
		}
		k.live = append(k.live, g)
		k.byGen[k.next] = g
		for i := g.first; i < g.end; i++ {
			if k.Stored.Have.Has(i) {
				g.have++
			}
			k.Want(i)
		}
		k.ReconsiderAll()
	}
}

// update makes new surveys where necessary.
func (k *Picker) update() {
	for _, g := range k.live {
		g.update(k)
	}
}

// last is added to the key of a block that is requested only if there is no other.
const last = 1 << 17

// Pick implements [mob.Picker].
//
// A node with a complete generation could send every block of it to every cluster, while clusters
// wait for each other. So once any groups have k blocks, further ones are picked last, between
// groups and within one. Over a link a block is picked only while the group needs one, and first by
// members that have not received their share.
func (k *Picker) Pick(p *mob.Peer) int {
	k.update()
	l := k.From(p)
	key := func(i int) (int, bool) { return k.localKey(p, l, i) }
	if !p.Local {
		key = func(i int) (int, bool) { return k.remoteKey(p, l, i) }
	}
	i := k.Best(p, key)
	if g := k.at(i); g != nil && g.sourcesOnly {
		k.leaveTo(p, g, i)
	}
	return i
}

// leaveTo leaves the remaining blocks of a piece to the peer that is asked for one of them. If the piece is
// corrupt, the next attempt is with another peer.
func (k *Picker) leaveTo(p *mob.Peer, g *generation, i int) {
	size := max(k.Coding.Piece, 1)
	first := i - (i-g.first)%size
	for j := first; j < min(first+size, g.first+g.blocks); j++ {
		if j != i {
			k.AvoidOthers(p, j)
		}
	}
}

// key is the part of a key that repairs make; ok is false for a block that is not picked.
func (k *Picker) key(p *mob.Peer, g *generation, i int) (key int, ok bool) {
	if g == nil || g.enough() || k.MustWait(p, i) {
		return 0, false
	}
	if g.sourcesOnly && p.Have.Count(g.first, g.end) < k.Names {
		return 1 << 20, true // it may be corrupt as well; but members that repair it wait for each other
	}
	return 0, true
}

func (k *Picker) localKey(p *mob.Peer, l *mob.Level, i int) (key int, ok bool) {
	g := k.at(i)
	if key, ok = k.key(p, g, i); !ok {
		return 0, false
	}
	holders, of := int(l.Holders[i]), g.from(l)
	key += holders
	if of.inside >= g.blocks && holders <= of.members {
		key += last
	}
	return key, true
}

func (k *Picker) remoteKey(p *mob.Peer, l *mob.Level, i int) (key int, ok bool) {
	g := k.at(i)
	if key, ok = k.key(p, g, i); !ok || !k.MayTake(l, i) {
		return 0, false
	}
	of := g.from(l)
	if of.covered >= g.blocks {
		return 0, false
	}
	rarity := int(l.Rarity[i])
	key += 2 * rarity
	if of.around >= g.blocks && rarity <= of.siblings {
		key += last
	}
	if first, end := ranks.Share(g.blocks, (l.Rank+g.number)%l.Size, l.Size); of.entered >= end-first {
		key++
	}
	return key, true
}

// Claimed implements [mob.Picker]. When two members requested the last block that their group
// needs of a generation while their claims crossed, the node gives up the one that it started last.
func (k *Picker) Claimed(l *mob.Level, i int) {
	g := k.at(i)
	if g == nil {
		return
	}
	k.update()
	if g.from(l).covered <= g.blocks {
		return
	}
	surplus := -1
	for j := g.first; j < g.end; j++ {
		f := k.Fetches[j]
		if f.Enters(l) && k.MayTake(l, j) && (surplus < 0 || f.Started.After(k.Fetches[surplus].Started)) {
			surplus = j
		}
	}
	if surplus >= 0 {
		k.GiveUp(surplus)
		k.Want(surplus)
	}
}

// Gained implements [mob.Picker]: a group needs k blocks of a generation.
func (k *Picker) Gained(l *mob.Level, i int) bool {
	g := k.at(i)
	if g == nil || g.from(l).gained >= g.blocks {
		return false
	}
	g.from(l).gained++
	return true
}

// Makes implements [mob.Picker]. A node that has not decoded a generation keeps only linearly
// independent blocks, so it has at most as many as there are source blocks.
func (k *Picker) Makes(p *mob.Peer, i int) bool {
	number := i / k.Names
	return p.Have.Count(number*k.Names, (number+1)*k.Names) > k.sourcesIn(number)
}

// Unverified implements [mob.Picker].
func (k *Picker) Unverified(i int) bool {
	g := k.at(i)
	return g != nil && len(g.corrupt[i]) > 0
}

// Lag implements [mob.Picker].
func (k *Picker) Lag(l *mob.Level) (n int) {
	k.update()
	for _, g := range k.live {
		of := g.from(l)
		n += max(0, min(of.covered, g.blocks)-g.have-of.requested)
	}
	return n
}

// Unclaimed implements [mob.Picker].
func (k *Picker) Unclaimed(l *mob.Level) bool {
	k.update()
	return slices.ContainsFunc(k.live, func(g *generation) bool { return g.from(l).covered < g.blocks })
}
