// Package session has the facts on which a node of a swarm decides: its joined peers, the groups that it is in, the
// links between them, and the pieces that it has, needs and fetches.
//
// A [Peer] is a joined peer, a [Level] a group, a [Link] the way to another group, and a [Fetch] a piece in progress. The
// [Table] has all of them, and answers questions: whether a piece may be started with a peer, whose turn it is, which
// fetches are late. It records what is deferred and claimed ahead, and when that ends. It sends nothing and knows neither
// events nor actions: these are in package mob.
//
// Pickers see the Table itself. The methods that only they call are in pick.go.
//
// None of this is safe for concurrent use.
package session
