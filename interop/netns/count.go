package netns

// frameHeaders is the size of the headers of Ethernet, IPv4 and TCP with timestamps.
const frameHeaders = 14 + 20 + 32

// Count is the traffic that has arrived at an interface since the grid was made.
type Count struct {
	// Bytes of all protocols, headers included.
	Bytes uint64
	// Frames is the number of frames. One that hosts leave for the network card to segment counts
	// once, and so do its headers in Bytes.
	Frames uint64
}

// Add is the traffic at two interfaces.
func (c Count) Add(other Count) Count { return Count{c.Bytes + other.Bytes, c.Frames + other.Frames} }

// Sub is the traffic since an earlier count.
func (c Count) Sub(before Count) Count {
	return Count{c.Bytes - before.Bytes, c.Frames - before.Frames}
}

// Headers is the bytes of frame headers. They depend on the load of the machine, on which the size
// of hosts' frames depends; the other bytes do not.
func (c Count) Headers() uint64 { return min(frameHeaders*c.Frames, c.Bytes) }

// LinkBytes counts one direction of a link: see [Grid.LinkBytes], [Grid.UplinkBytes] and
// [Grid.NICBytes].
type LinkBytes struct {
	// From and To name the ends: clusters, or a node such as A3 or a rack such as A/r1 and its
	// cluster.
	From, To string
	// Count is the traffic that has arrived at To, counted like [Grid.WANBytes].
	Count
}
