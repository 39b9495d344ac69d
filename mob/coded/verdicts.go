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
	if k.Stored.Have.Has(i) {
		return
	}
	f := k.Fetches[i]
	for _, l := range k.Levels {
		if f.Enters(l) {
			k.entered[l.Index].Add(i)
		}
	}
	if g := k.at(i); g != nil {
		g.have++
		if f != nil {
			g.senders[i] = f.Peer
		}
	}
	k.Store(i)
}

// failed handles a corrupt or rejected block. If no peer is at fault, the sender may send the same block
// again.
func (k *Picker) failed(ev mob.Failed) {
	i := ev.Piece
	g := k.at(i)
	if f := k.Fetches[i]; f != nil && g != nil && len(ev.Sources) == 0 {
		k.distrust(g, i, f.Peer)
	}
	k.GiveUp(i)
	if g != nil && k.Want(i) {
		k.ReconsiderAll() // another block may do as well
	}
}

// distrust records that a peer sent a corrupt copy of a block. Other members may have the same copy.
// So the block is fetched as if no member had it, and deferred for that peer.
func (k *Picker) distrust(g *generation, i int, p *mob.Peer) {
	g.corrupt[i], g.stale = append(g.corrupt[i], p), true
	if g.sourcesOnly {
		k.Allow(i) // it was left to p
	}
	for _, p := range g.corrupt[i] {
		k.Avoid(p, i)
	}
}

// lost records that a block is no longer stored. Combinations with it are of use again. The node
// starts a generation again if it has no block of it.
func (k *Picker) lost(i int) {
	if !k.Drop(i) {
		return
	}
	if g := k.at(i); g != nil {
		g.have--
		k.distrust(g, i, g.senders[i])
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
	if k.Stored.Have.Count(number*k.Names, (number+1)*k.Names) == 0 {
		for _, l := range k.Levels {
			l.Inflow.Missing += k.sourcesIn(number)
		}
		k.next = min(k.next, number)
		k.start()
	}
}

// follows records a block that is a combination of stored ones.
func (k *Picker) follows(i int) {
	if k.Stored.Have.Has(i) {
		return
	}
	k.GiveUp(i)
	k.Wanted.Remove(i)
	if g := k.at(i); k.useless.Add(i) && g != nil {
		g.stale = true
	}
	k.ReconsiderAll()
}

// decoded records that a generation is decoded, verified and on disk: the node has the blocks of
// all its names, and announces them as one range.
func (k *Picker) decoded(number int) {
	if number < 0 || number >= len(k.byGen) {
		return
	}
	k.live = slices.DeleteFunc(k.live, func(g *generation) bool { return g.number == number })
	k.byGen[number] = nil
	for i := number * k.Names; i < (number+1)*k.Names; i++ {
		if k.Stored.Have.Has(i) {
			k.Announce(i)
		}
		k.stored(i)
	}
	k.start()
}

// polluted withdraws a generation that failed its hashes, since some of its blocks were corrupt.
// It is repaired from its source blocks.
func (k *Picker) polluted(number int) {
	g := k.at(number * k.Names)
	if g == nil {
		return
	}
	g.sourcesOnly, g.have, g.stale = true, 0, true
	for i := g.first; i < g.end; i++ {
		k.GiveUp(i)
		k.Wanted.Remove(i)
		k.useless.Remove(i)
		k.Drop(i)
	}
	for i := g.first; i < g.first+g.blocks; i++ {
		k.Want(i)
	}
	k.ReconsiderAll()
}
