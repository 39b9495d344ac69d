package transport

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

// Fill fills p with what the peer has begun to send. Where the channel is a socket,
// the caller sleeps until all of it is there.
func (r *Reader) Fill(p []byte) error {
	if c, ok := r.Reader.(*Conn); ok {
		c.Expect(len(p))
	}
	_, err := io.ReadFull(r, p)
	return err
}
