// Package permutation is coded permutation gossip, the heart of Cooper (Liu, Niu
// and Khabbazian): how the nodes of one homogeneous cluster send each other blocks
// so that every interface is busy both ways, and who sends what next.
//
// Like [github.com/mobgrid/mob/mob.State], a [State] is the mind of one node and
// computes only: events go in through [State.Step], actions come out, and one
// history of events gives one history of actions. It has no clock either: its
// time is the block.
//
// # The algorithm
//
// A [Topology] is a list of random cyclic orders of all nodes, the same at all of
// them. In each round every node sends one block to its successor in the order of
// that round, so each sends to one and receives from one. It offers the block
// first. A successor that receives from another, or has all that the node could send,
// is skipped: the node tries its successor in the next order of the list.
//
// Nodes are not in step. Whose turn it is waits for a successor that is about to be
// done with the block of the round before. Anybody else that was refused hears when
// the peer is free.
//
// The content is cut into batches of blocks, in other words generations. What is
// sent is a random linear combination of the blocks of one batch that the sender
// has, so that hardly any is useless, whoever it goes to. An [Order] says which batch
// goes first while two are on their way.
//
// The baseline ([Config].Uncoded) sends a random block of those that the receiver
// lacks, as far as the sender knows: a node tells the others of its blocks after
// every second one. It shares all the rest.
//
// # The contract with the caller
//
// The caller steps a State from one goroutine and carries out the actions in their
// order. It encodes a block when [Send] says so, of what is there then, and reports
// [Decoded] only after a batch is verified. Payload never enters the State. As
// often as a block takes to be sent, it calls Step with a [Tick].
package permutation
