// Package plan computes the highest rate of a broadcast over links of known rates (Bound), and broadcast
// trees (Network.Plan). A Topology has the hosts, links and rates; a Network is prepared for planning. A
// Plan is weighted trees, and its Route maps each piece and host to a tree.
//
// It knows the planners that MOB was compared with: trees that are traced depth first (stable,
// fpfr), weighted by linear programming (balanced, edmonds), or single ones (dijkstra, flat,
// random, chain). It sends nothing: a Plan is followed elsewhere.
//
// All of it is safe for concurrent use.
package plan
