package netns

// LinkBytes counts one direction of a link: see [Grid.LinkBytes], [Grid.UplinkBytes] and
// [Grid.NICBytes].
type LinkBytes struct {
	// From and To name the ends: clusters, or a node such as A3 or a rack such as A/r1 and its
	// cluster.
	From, To string
	// Count is the traffic that has arrived at To, counted like [Grid.WAN].
	Count
}
