// Package mixed is the mind of a coding node part of whose peers speak of plain pieces: they
// do not code, or code in another way. It stands between a [mob.State] and its events and
// actions, and sees to it that what one member of the mob fetches over the WAN no other
// does. While all peers code in the same way it does nothing.
//
// What such a peer has, and asked for, it tells in pieces, which are source blocks here.
// The other way it cannot be told of blocks; nor can members that code in the same way pass
// on to each other what came from it, which nobody signed, before a generation is whole.
// So whoever begins a generation over the WAN gets it alone:
//
//   - A node begins a few at a time. Of others its State does not hear that other clusters
//     have them, nor what members claim of them, and gathers them on the LAN alone.
//   - It claims all source blocks of those, though it may fetch others, but for what
//     members have or claim: the promise that its pieces will come from here. It asks for
//     the first block when all have heard of that, which they show by answering a ping.
//   - Of two that claim one block while their news crosses the one with the lesser id
//     keeps it, as everywhere.
//   - A promise lapses when nothing came over the WAN for long, and is given again when
//     something does. The State may ask for anything meanwhile. What no far peer has any
//     more is given back. So nobody waits for ever.
//
// Members draw the order in which they begin generations, and take those first that nobody
// else is at. Plain members begin with their shares of the pieces, at random, as ever.
package mixed
