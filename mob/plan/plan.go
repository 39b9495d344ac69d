package plan

// Plan says who sends what to whom: weighted trees over hosts, each for its part of the pieces.
type Plan struct {
	// Hosts are the names of the hosts. The first is the source.
	Hosts []string
	// Trees are the trees, of which the first has every host that the source reaches. The hosts of
	// a tree may be some of those of the tree before it: see Route.
	Trees []Tree
}

// Tree is one way from the source to hosts.
type Tree struct {
	// Rate is how much the plan sends through the tree, in bytes per second.
	Rate float64
	// Parents has for each host the host that sends to it, and -1 for the source and for hosts that
	// are not in the tree.
	Parents []int
}
