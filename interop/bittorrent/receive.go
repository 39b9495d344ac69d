package bittorrent

import (
	"bufio"
	"encoding/binary"
	"io"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

func (c *peerConn) readMessage(r *bufio.Reader) error {
	t, n, err := readHeader(r)
	if err != nil || n < 0 {
		return err
	}
	switch t {
	case pp.Piece:
		return c.readPiece(r, n)
	case pp.Bitfield:
		return c.readBitfield(r, n)
	case pp.Extended:
		b, err := readExtended(r, n)
		if err != nil {
			return err
		}
		return c.onExtended(b)
	}
	fields := fieldsOf(t)
	if fields < 0 && n <= maxUnknown {
		_, err := r.Discard(int(n))
		return err
	}
	if n != int64(4*fields) {
		return protocolError("message of type %d has %d bytes", t, n)
	}
	var b [12]byte
	if _, err := io.ReadFull(r, b[:n]); err != nil {
		return err
	}
	return c.onFields(t, proto.Span{
		Piece:  binary.BigEndian.Uint32(b[:]),
		Begin:  binary.BigEndian.Uint32(b[4:]),
		Length: binary.BigEndian.Uint32(b[8:]),
	})
}

func (c *peerConn) onFields(t pp.MessageType, s proto.Span) error {
	switch t {
	case pp.Have:
		return c.onHave(s.Piece)
	case pp.HaveAll:
		c.onPieces(func(int) bool { return true })
	case pp.Choke:
		c.onChoke()
	case pp.Unchoke:
		c.onUnchoke()
	case pp.Request:
		return c.onRequest(s)
	case pp.Cancel:
		c.requests.Cancel(s)
	case pp.Reject:
		c.reject(c.download.reject(s))
		c.download.request(c.out.request)
	}
	return nil
}

func (c *peerConn) onRequest(s proto.Span) error {
	switch {
	case int64(s.Piece) >= int64(c.attachment.Pieces()) || s.Length == 0 || s.Length > maxRequest ||
		uint64(s.Begin)+uint64(s.Length) > uint64(c.attachment.Size(s.Piece)):
		return protocolError("invalid request of piece %d, begin %d, length %d", s.Piece, s.Begin, s.Length)
	case !c.joined || !c.attachment.Has(s.Piece):
		c.out.reject(s)
	case !c.requests.Add(s):
		return protocolError("too many requests")
	}
	return nil
}

func (c *peerConn) onHave(i uint32) error {
	if int64(i) >= int64(c.attachment.Pieces()) {
		return protocolError("have of piece %d", i)
	}
	c.mu.Lock()
	available := c.state.addRemote(int(i)) && c.state.unchoked
	c.updateInterest()
	c.mu.Unlock()
	if available {
		c.toSwarm(&proto.Have{Have: []proto.Range{{First: i, Count: 1}}})
	}
	return nil
}

func (c *peerConn) readBitfield(r *bufio.Reader, n int64) error {
	pieces := c.attachment.Pieces()
	b := make([]byte, bitfieldLen(pieces))
	if n != int64(len(b)) {
		return protocolError("bitfield of %d bytes for %d pieces", n, pieces)
	}
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	c.onPieces(func(i int) bool { return bitfieldHas(b, i) })
	return nil
}

// onPieces adds the pieces of a client. One that has all of them may repeat that in five bytes.
func (c *peerConn) onPieces(has func(i int) bool) {
	c.mu.Lock()
	for i := 0; i < c.attachment.Pieces() && !c.state.remote.Full(); i++ {
		if has(i) {
			c.state.addRemote(i)
		}
	}
	c.updateInterest()
	available := c.state.available()
	c.mu.Unlock()
	if len(available) > 0 {
		c.toSwarm(&proto.Have{Have: available})
	}
}

// onChoke rejects the open requests, since a client drops them when it chokes.
func (c *peerConn) onChoke() {
	c.mu.Lock()
	unchoked := c.state.unchoked
	c.state.unchoked = false
	c.mu.Unlock()
	if !unchoked {
		return
	}
	c.reject(c.download.dropAll())
	c.toSwarm(&proto.Have{Drop: []proto.Range{{Count: uint32(c.attachment.Pieces())}}})
}

func (c *peerConn) onUnchoke() {
	c.mu.Lock()
	unchoked := c.state.unchoked
	c.state.unchoked = true
	available := c.state.available()
	c.mu.Unlock()
	if !unchoked {
		c.toSwarm(&proto.Have{Have: available})
	}
}

// reject rejects dropped spans to the swarm, since the client does not send them.
func (c *peerConn) reject(spans []dropped) {
	c.discard(spans)
	for _, d := range spans {
		c.toSwarm(&proto.Reject{Span: d.span})
	}
}

// toSwarm sends a message to the swarm, and blocks while that is behind. Before join
// it does nothing, since join sends the state.
func (c *peerConn) toSwarm(m proto.Message) {
	if c.joined {
		c.attachment.Send(m)
	}
}

func (c *peerConn) readPiece(r *bufio.Reader, n int64) error {
	var head [pieceHeader - 5]byte
	if n < int64(len(head)) || n > int64(len(head)+maxRequest) {
		return protocolError("piece message of %d bytes", n)
	}
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	s := proto.Span{
		Piece:  binary.BigEndian.Uint32(head[:]),
		Begin:  binary.BigEndian.Uint32(head[4:]),
		Length: uint32(n) - uint32(len(head)),
	}
	block, k := c.download.startChunk(s)
	if block == nil {
		return c.skipChunk(r, int(s.Length))
	}
	if block.buf == nil {
		block.buf = payload.GetBuffer(int(block.span.Length))
	}
	from := s.Begin - block.span.Begin
	_, err := io.ReadFull(r, block.buf.B[from:from+s.Length])
	complete, dropped := c.download.endChunk(block, k)
	switch {
	case dropped:
		c.attachment.Wasted(int(s.Length))
		block.buf.Release()
	case err != nil:
	case complete:
		c.attachment.Store(block.span, block.buf)
	}
	c.download.request(c.out.request)
	return err
}

func (c *peerConn) skipChunk(r *bufio.Reader, n int) error {
	if err := c.download.skip(); err != nil {
		return err
	}
	if c.joined {
		c.attachment.Wasted(n)
	}
	_, err := r.Discard(n)
	return err
}
