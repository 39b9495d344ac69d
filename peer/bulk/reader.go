package bulk

import "io"

// Reader reads a channel and remembers how reading ended: what comes on a channel can
// be wrong, or the channel itself can end.
type Reader struct {
	io.Reader
	// Broken is whether the channel has ended, for whatever reason.
	Broken bool
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.Broken = r.Broken || err != nil
	return n, err
}
