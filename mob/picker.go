package mob

import "github.com/mobgrid/mob/mob/session"

type (
	// Layout describes the numbers of a [Picker].
	Layout = session.Layout
	// Peer is a joined peer.
	Peer = session.Peer
	// Level is a group that the node is in.
	Level = session.Level
)

// Picker decides what a [State] requests: the next number to request of a peer, the useful numbers,
// and what follows when one arrives or is lost. The State keeps the peers, the requests and the
// claims. A number is a piece, or a block of a coded transfer. A Picker belongs to one State, which
// calls it from Step. It only computes, and calls only its [Control].
type Picker interface {
	// Layout describes the numbers. The State calls it first.
	Layout() Layout
	// Attach gives the picker its State, which has the numbers that are stored. The picker adds
	// to Wanted what is to be fetched. It is called once.
	Attach(c *Control)
	// Pick returns a wanted number to start with a peer that has it, -1 if there is none.
	Pick(p *Peer) int
	// Makes reports whether a peer that has a number makes it itself, and does not forward it.
	Makes(p *Peer, i int) bool
	// Apply handles an event about numbers: [Stored], [Failed], [Lost], [Useless], [Decoded], [Polluted]
	// or [Grown].
	Apply(ev Event)
	// Claimed reports that a peer of a group that precedes the node has claimed a number as well.
	Claimed(l *Level, i int)
	// Gained reports whether a number that no member of a group had is useful to the group.
	Gained(l *Level, i int) bool
	// Unverified reports whether the copies of members may be corrupt, so that the number is fetched as if
	// they did not have it.
	Unverified(i int) bool
	// Lag counts the numbers that other members of a group have, and the node neither has nor
	// requested, as far as they are of use.
	Lag(l *Level) int
	// Unclaimed reports whether a group needs a number that no member has claimed.
	Unclaimed(l *Level) bool
}
