// Package outcast finds out, by the words of a cluster's members, who of them is served
// behind the others.
//
// A member that sends false pieces is shown out by all of its mob that got some of them.
// To itself it is alone then, and fetches the whole content over the links of its cluster,
// which the others wait for. A copy of theirs reaches all of them, its own nobody else. So
// members tell other clusters whom they have shown out, and there an outcast is served
// slowly as long as any of the others waits.
package outcast

import (
	"slices"

	"github.com/mobgrid/mob/proto"
)

const (
	// leastWords is how many must say that they have shown a member out, beside that
	// they are the greater part of its cluster, as far as it is joined: one may lie.
	leastWords = 2
	// mostWords bounds the outcasts that one member tells of.
	mostWords = 64
	// Rate is how fast an outcast is served while others wait, in bytes per second. It
	// never starves, and takes next to nothing of a link, though it may ask many nodes.
	Rate = 16 << 10
)

// Words are what members of one cluster say of each other. The zero Words has heard
// nothing. Not safe for concurrent use.
type Words struct {
	shown map[proto.PeerID][]proto.PeerID // by who showed them out
	slow  map[proto.PeerID]bool           // those that are served slowly
}

// Heard notes that a member has shown another out.
func (w *Words) Heard(from, about proto.PeerID) {
	if w.shown == nil {
		w.shown, w.slow = map[proto.PeerID][]proto.PeerID{}, map[proto.PeerID]bool{}
	}
	if said := w.shown[from]; from != about && len(said) < mostWords && !slices.Contains(said, about) {
		w.shown[from] = append(said, about)
	}
}

// None says that no member has shown out another, and none is served slowly.
func (w *Words) None() bool { return len(w.shown) == 0 && len(w.slow) == 0 }

// Left forgets a member that is not joined any more, and what it said.
func (w *Words) Left(id proto.PeerID) {
	delete(w.shown, id)
	delete(w.slow, id)
}

// Member is one that is joined.
type Member struct {
	ID    proto.PeerID
	Waits bool // it lacks pieces
}

// Ration is at which rate a member is served, in bytes per second; 0 for any.
type Ration struct {
	Peer proto.PeerID
	Rate int
}

// Rations gives the members whose ration has changed. An outcast is who was shown out by
// the greater part of the others that are joined.
func (w *Words) Rations(ms []Member) (changed []Ration) {
	words := map[proto.PeerID]int{}
	for _, said := range w.shown {
		for _, id := range said {
			words[id]++
		}
	}
	out := func(m Member) bool { return words[m.ID] >= leastWords && 2*words[m.ID] > len(ms)-1 }
	waits := slices.ContainsFunc(ms, func(m Member) bool { return m.Waits && !out(m) })
	for _, m := range ms {
		if slow := waits && out(m); slow && !w.slow[m.ID] {
			w.slow[m.ID] = true
			changed = append(changed, Ration{m.ID, Rate})
		} else if !slow && w.slow[m.ID] {
			delete(w.slow, m.ID)
			changed = append(changed, Ration{m.ID, 0})
		}
	}
	return changed
}
