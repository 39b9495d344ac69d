// Package gossip is a node's part in a swarm whose blocks go round by permutations
// (Cooper): a [permutation.State] that tells and does what a [mob.State] does. It adds who the
// members are, that they are all connected, who draws the permutations, and the words.
//
// All members are of one cluster; others are turned away. Each is connected to each. A
// permutation is drawn by who has everything, so at first by the source: of several
// the one with the least id. It sends a new one when members have come or gone, and who
// was there before stays in time for the generations that go round.
package gossip
