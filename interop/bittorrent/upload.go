package bittorrent

import (
	"encoding/binary"

	pp "github.com/anacrolix/torrent/peer_protocol"
	"golang.org/x/time/rate"

	"github.com/mobgrid/mob/proto"
)

// batchSize is about how many bytes of requested chunks are read and written at a
// time.
const batchSize = proto.MaxBlock

// newLimiter limits to bytes per second, nil for no limit. Its burst is a fifth of a
// second or one batch.
func newLimiter(bytes int64) *rate.Limiter {
	if bytes <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bytes), max(int(bytes/5), batchSize))
}

// serveLoop serves the requests of the client until the queue is closed.
func (c *peerConn) serveLoop() {
	for {
		s, _, ok := c.requests.Next()
		if !ok {
			return
		}
		if err := c.serveBatch(s); err != nil {
			c.cancel(err)
			return
		}
	}
}

// serveBatch serves a request, and those that wait behind it as far as they fit a
// batch.
func (c *peerConn) serveBatch(s proto.Span) error {
	buf := c.attachment.Buffer(batchSize)
	defer c.attachment.Release(buf)
	b, payload, ok := buf.B[:0], 0, true
	for ok {
		if len(b)+pieceHeader+int(s.Length) > cap(b) {
			if err := c.writePieces(b, payload); err != nil {
				return err
			}
			b, payload = b[:0], 0
		}
		if next := c.appendPiece(b, s); len(next) > len(b) {
			b, payload = next, payload+int(s.Length)
		}
		if len(b) >= batchSize-chunk {
			break
		}
		s, ok = c.requests.TryNext()
	}
	return c.writePieces(b, payload)
}

// appendPiece appends a piece message. It rejects the request if the chunk cannot be
// read.
func (c *peerConn) appendPiece(b []byte, s proto.Span) []byte {
	begin, n := len(b), int(s.Length)
	b = binary.BigEndian.AppendUint32(b, uint32(pieceHeader-4+n))
	b = append(b, byte(pp.Piece))
	b = binary.BigEndian.AppendUint32(b, s.Piece)
	b = binary.BigEndian.AppendUint32(b, s.Begin)
	b = b[:len(b)+n]
	if !c.attachment.Has(s.Piece) || c.attachment.Read(b[len(b)-n:], s.Piece, s.Begin) != nil {
		c.sendReject(s)
		return b[:begin]
	}
	return b
}

// writePieces writes piece messages with so many bytes of payload, within the rate
// limit.
func (c *peerConn) writePieces(b []byte, payload int) error {
	if payload == 0 {
		return nil
	}
	if l := c.swarm.server.limiter; l != nil {
		if err := l.WaitN(c.ctx, min(payload, l.Burst())); err != nil {
			return err
		}
	}
	if err := c.write(b); err != nil {
		return err
	}
	c.attachment.Sent(payload)
	return nil
}
