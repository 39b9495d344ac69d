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
	// leastWords is how many hosts must say that a member was shown out, beside that they
	// are the greater part of its cluster, as far as it is joined: one may lie.
	leastWords = 2
	// Most bounds the outcasts that one member tells of.
	Most = 64
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
	if from != about {
		w.shown[from] = Note(w.shown[from], about)
	}
}

// Note adds an outcast to those that one member tells of.
func Note(told []proto.PeerID, id proto.PeerID) []proto.PeerID {
	if len(told) >= Most || slices.Contains(told, id) {
		return told
	}
	return append(told, id)
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
	Host  string // where it is; those of one host have one word. Empty for one of its own
	Waits bool   // it wishes to hear of pieces from here
}

// Ration is at which rate a member is served, in bytes per second; 0 for any.
type Ration struct {
	Peer proto.PeerID
	Rate int
}

// Rations gives the members whose ration has changed. An outcast is who was shown out by
// the greater part of the others that are joined, hosts counted: ids and names of clusters
// cost nothing, so one machine could be the greater part of any.
func (w *Words) Rations(ms []Member) (changed []Ration) {
	hosts := map[string]int{} // how many are there
	said := map[word]bool{}
	words := map[proto.PeerID]int{}
	for _, m := range ms {
		if m.Host == "" {
			m.Host = string(m.ID)
		}
		hosts[m.Host]++
		for _, id := range w.shown[m.ID] {
			if v := (word{m.Host, id}); !said[v] {
				said[v] = true
				words[id]++
			}
		}
	}
	out := func(m Member) bool {
		others := len(hosts)
		if hosts[m.Host] <= 1 {
			others--
		}
		return words[m.ID] >= leastWords && 2*words[m.ID] > others
	}
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

// word is that a host has shown a member out.
type word struct {
	host  string
	about proto.PeerID
}
