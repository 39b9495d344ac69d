// Package plan computes with the rates of all links at once: how fast a broadcast can be (Bound),
// and who sends what to whom (Network.Plan), before anything is sent. A Topology says how hosts are
// linked, and with what rates; a Network is one made ready to plan with. A Plan is weighted trees,
// and its Route says through which of them a piece comes to a host.
//
// It knows the planners that MOB was compared with: trees that are traced depth first (stable,
// fpfr), weighted by linear programming (balanced, edmonds), or single ones (dijkstra, flat,
// random, chain). It sends nothing: a Plan is followed elsewhere.
//
// All of it is safe for concurrent use.
package plan
