package netns

// frameHeaders is the size of the headers of Ethernet, IPv4 and TCP with its timestamps.
const frameHeaders = 14 + 20 + 32

// Count is what has arrived somewhere since the grid was made.
type Count struct {
	// Bytes are those of all protocols, headers included.
	Bytes uint64
	// Frames is in how many pieces. Of one that hosts leave for the network card to cut up, headers count once in Bytes.
	Frames uint64
}

// Sub is what has arrived since an earlier count.
func (c Count) Sub(before Count) Count {
	return Count{c.Bytes - before.Bytes, c.Frames - before.Frames}
}

// Headers is how many of the bytes are headers of frames. It depends on how busy the machine is, since that decides how large
// the frames are that hosts make; the rest of the bytes does not.
func (c Count) Headers() uint64 { return min(frameHeaders*c.Frames, c.Bytes) }
