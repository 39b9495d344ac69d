package coded

import (
	"slices"

	"github.com/mobgrid/mob/mob"
)

// Apply implements [mob.Picker].
func (k *Picker) Apply(ev mob.Event) {
	switch ev := ev.(type) {
	case mob.Stored:
		k.stored(ev.Piece)
	case mob.Failed:
		k.failed(ev)
	case mob.Lost:
		k.lost(ev.Piece)
	case mob.Useless:
		k.follows(ev.Piece)
	case mob.Decoded:
		k.decoded(ev.Generation)
	case mob.Polluted:
		k.polluted(ev.Generation)
	}
}

// stored records a block.
func (k *Picker) stored(i int) {
	if k.Has(i) {
		return
	}
	for _, v := range k.Levels() {
		if f, _ := v.Fetch(i); f.Enters {
			k.brought[v.Level()].Add(i)
		}
	}
	if g := k.at(i); g != nil {
		g.have++
		if f, requested := k.Fetch(i); requested {
			g.senders[i] = f.Peer
		}
	}
	k.Store(i)
}

// failed notes that a false block came, or none. If nobody is to blame the peer that sent it may
// send the same again.
func (k *Picker) failed(ev mob.Failed) {
	i := ev.Piece
	g := k.at(i)
	if f, requested := k.Fetch(i); requested && g != nil && len(ev.Sources) == 0 {
		k.doubt(g, i, f.Peer)
	}
	k.GiveUp(i)
	if g != nil && k.Want(i) {
		k.Reconsider(i)
	}
}

// doubt notes that a peer sent a false copy of a block. Other members may have it from the same
// peer, or from each other: to ask one after the other might never end. So it is fetched as if
// no member had it, and from that peer only after a while.
func (k *Picker) doubt(g *generation, i int, p mob.Peer) {
	g.corrupt[i], g.stale = append(g.corrupt[i], p), true
	if g.sourcesOnly {
		k.Allow(i) // it was left to p
	}
	for _, p := range g.corrupt[i] {
		k.Defer(p, i)
	}
}

// lost notes that a block is not stored any more. What followed from it and others is of use
// again. A generation of which the node has nothing left is begun again.
func (k *Picker) lost(i int) {
	if !k.Drop(i) {
		return
	}
	if g := k.at(i); g != nil {
		g.have--
		k.doubt(g, i, g.senders[i])
		for j := g.first; j < g.end; j++ {
			if k.useless.Remove(j) {
				k.Want(j)
			}
		}
		k.Want(i)
		k.ReconsiderAll()
		return
	}
	number := i / k.Names
	if k.Stored(number*k.Names, (number+1)*k.Names) == 0 {
		for _, v := range k.Levels() {
			k.AddMissing(v, k.sourcesIn(number))
		}
		k.next = min(k.next, number)
		k.begin()
	}
}

// follows notes a block that follows from those that are stored.
func (k *Picker) follows(i int) {
	if k.Has(i) {
		return
	}
	k.GiveUp(i)
	k.Unwant(i)
	if g := k.at(i); k.useless.Add(i) && g != nil {
		g.stale = true
	}
	k.ReconsiderAll()
}

// decoded notes that a generation is decoded, verified and on disk: the node has the blocks of
// all its names. It announces them all, as one range.
func (k *Picker) decoded(number int) {
	if number < 0 || number >= len(k.byGen) {
		return
	}
	k.live = slices.DeleteFunc(k.live, func(g *generation) bool { return g.number == number })
	k.byGen[number] = nil
	for i := number * k.Names; i < (number+1)*k.Names; i++ {
		if k.Has(i) {
			k.Announce(i)
		}
		k.stored(i)
	}
	k.begin()
}

// polluted takes back a generation that failed its hashes, since some of its blocks were false.
// Its source blocks can be checked one by one.
func (k *Picker) polluted(number int) {
	g := k.at(number * k.Names)
	if g == nil {
		return
	}
	g.sourcesOnly, g.have, g.stale = true, 0, true
	for i := g.first; i < g.end; i++ {
		k.GiveUp(i)
		k.Unwant(i)
		k.useless.Remove(i)
		k.Drop(i)
	}
	for i := g.first; i < g.first+g.blocks; i++ {
		k.Want(i)
	}
	k.ReconsiderAll()
}
