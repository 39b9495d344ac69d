package netns

// LinkBytes counts one direction of a link: see [Grid.LinkBytes] and [Grid.NICBytes].
type LinkBytes struct {
	// From and To name the ends: clusters, or a node such as A3 and its cluster.
	From, To string
	// Count is the traffic that has arrived at To, counted like [Grid.WAN].
	Count
}
