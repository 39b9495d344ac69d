// Package permutation is coded permutation gossip (Cooper; Liu, Niu and Khabbazian): how
// the nodes of one homogeneous cluster send each other blocks so that every interface is
// busy both ways. A [State] is its [mob.Strategy]: it decides for one node, and computes
// only.
//
// # The algorithm
//
// A [Topology] is a list of random cyclic permutations of all nodes, the same at all of
// them. In each round every node sends one block to its successor in the permutation of
// that round, so each sends to one and receives from one. A successor that is busy, or
// needs no more blocks, is skipped: the node tries its successor in the next permutation of
// the list. Each node counts its own rounds, and is never behind a round that it has heard
// of, so that all use the same permutation at about the same time.
//
// Where a control message takes about as long as a block, a node that asked first would be
// idle for as long again. So a node pushes unasked, one block at a time, and a peer counts
// as busy until it has confirmed the node's last block. A node has at most a window of
// unconfirmed blocks.
//
// A content is cut into generations (the paper's batches). A block is a random linear
// combination of the blocks of one generation that the sender has, so hardly any is
// useless, whoever receives it. A [Schedule] says which generation goes first while two are
// in transit. The baseline [proto.RandomBlock] sends plain blocks instead, each a random
// one of those that the receiver lacks as far as the sender knows: nodes announce theirs
// after every second block.
//
// # Members
//
// All members are of one cluster, and every two of them are connected; nodes of other
// clusters are refused. The permutations are drawn by a node that has all generations, so
// at first by the source; of several by the one with the least id. It draws anew when
// members join or leave. A member that joins late is waited for only from the generation on
// that is in transit then, and gets the earlier ones last.
//
// # The contract with the caller
//
// It is that of package mob. In addition, the caller makes the block of a [mob.Push] when
// it begins to send it, of what is there then, and steps with [mob.Sent] when it has left
// the node. It steps with [mob.Filled] when the blocks of a generation suffice, and then
// with [mob.Decoded] when they are verified, or with [mob.Polluted] when they are dropped.
package permutation
