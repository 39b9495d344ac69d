package transport

import "io"

// Reader reads a bulk channel, a [Conn] or a libp2p stream, and remembers whether a read
// failed. So a caller can tell a broken channel from invalid data on it.
type Reader struct {
	io.Reader
	// Broken is set once a read has failed for any reason.
	Broken bool
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.Broken = r.Broken || err != nil
	return n, err
}

// Fill reads exactly len(p) bytes that the peer has begun to send. On a [Conn] the
// caller sleeps until all of them are there.
func (r *Reader) Fill(p []byte) error {
	if c, ok := r.Reader.(*Conn); ok {
		c.Expect(len(p))
	}
	_, err := io.ReadFull(r, p)
	return err
}
