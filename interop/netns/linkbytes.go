package netns

// LinkBytes is how much has arrived over one direction of one WAN link: see [Grid.LinkBytes].
type LinkBytes struct {
	// From and To name the clusters at the ends.
	From, To string
	// Count is what has arrived in To, counted like [Grid.WAN].
	Count
}
