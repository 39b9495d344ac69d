// Package assign decides which member of a group fetches a piece, and from which peer.
//
// Without a plan the members of a group divide the pieces by rank, into shares. A share is a preference: a
// member starts the pieces of its share before other pieces.
//
// A plan has a tree of hosts for each piece. Each host requests the piece of its parent in the tree only, when the
// parent has it, and whatever other members claim. The node does not take turns, help with late pieces or
// steal then, so a plan that was made for other rates is slow. A piece is assigned by shares
// instead in two cases:
//
//   - The parent has not joined, does not answer, or has not got a new piece lately.
//   - The node is the only gateway of the piece for one of its groups, and another member has or claims it. So a
//     node that was away does not fetch pieces that other members have stolen.
//
// Nodes that steal, and hosts that are not in the plan, leave a piece to its gateway, the host through
// which it enters the group, while that host is joined and gets pieces. So a piece enters a group as often as in the plan.
//
// The name of a host is a hint: pieces are verified, whatever peer sends them.
package assign
