package bittorrent

import (
	"encoding/binary"
	"slices"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// batchSize is the approximate size of requested chunks that are read and written at a
// time, in bytes.
const batchSize = proto.MaxBlock

// serveLoop serves the requests of the client until the queue is closed.
func (c *peerConn) serveLoop() {
	var limits limit.Chain
	for {
		s, _, ok := c.requests.Next()
		if !ok {
			return
		}
		if limits == nil { // it has joined: a client without a session has no request in the queue
			limits = slices.Concat(c.attachment.Upload(), limit.Chain{&c.swarm.server.limiter})
		}
		if err := c.serveBatch(s, limits); err != nil {
			c.cancel(err)
			return
		}
	}
}

// serveBatch serves a request, and as many of the next ones as fit a batch.
func (c *peerConn) serveBatch(s proto.Span, limits limit.Chain) error {
	buf := payload.GetBuffer(batchSize)
	defer buf.Release()
	b, payload, ok := buf.B[:0], 0, true
	most := limits.Chunk(batchSize - chunk)
	for ok {
		if len(b)+pieceHeader+int(s.Length) > cap(b) {
			if err := c.writePieces(b, payload, limits); err != nil {
				return err
			}
			b, payload = b[:0], 0
		}
		if next := c.appendPiece(b, s); len(next) > len(b) {
			b, payload = next, payload+int(s.Length)
		}
		if len(b) >= most {
			break
		}
		s, ok = c.requests.TryNext()
	}
	return c.writePieces(b, payload, limits)
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

// writePieces writes piece messages with payload bytes of payload, subject to the limits.
func (c *peerConn) writePieces(b []byte, payload int, limits limit.Chain) error {
	if payload == 0 {
		return nil
	}
	if err := limits.Wait(c.ctx, payload); err != nil {
		return err
	}
	if err := c.write(b); err != nil {
		return err
	}
	c.attachment.Sent(payload)
	return nil
}
