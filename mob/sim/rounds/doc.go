// Package rounds runs the nodes of a homogeneous cluster in rounds: the model in
// which permutation gossip is analysed (Cooper, section 2). In a round a node
// sends one block and receives one, and what has come can be sent on from the next
// round on. Offers and other words take no time. Nodes can be slow, die, or be out of
// step, which is what they are in reality; then a round has a hundred steps.
//
// The decisions are those of package permutation. Blocks are vectors of
// coefficients without the payload, so ranks are those of real codes. One seed
// gives one result.
package rounds
