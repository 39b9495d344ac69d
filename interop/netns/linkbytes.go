package netns

// LinkBytes is how much has arrived over one direction of one WAN link: see [Grid.LinkBytes].
type LinkBytes struct {
	// From and To name the clusters at the ends.
	From, To string
	// Bytes have arrived in To since the grid was made, counted like WANBytes.
	Bytes uint64
	// Frames is in how many pieces. Of one that hosts leave for the network card to cut up, headers count once in Bytes.
	Frames uint64
}
