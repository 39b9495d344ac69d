package bittorrent

import (
	"encoding/binary"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// batchSize is about how much of what a guest asked for is read and written at a
// time.
const batchSize = proto.MaxBlock

// serve honours every request of the guest, until its queue is closed.
func (g *guest) serve() {
	for {
		sp, _, ok := g.upload.Next()
		if !ok {
			return
		}
		if err := g.sendBatch(sp); err != nil {
			g.fail(err)
			return
		}
	}
}

// sendBatch sends a chunk, and with it those that wait behind it, as far as there is
// room.
func (g *guest) sendBatch(sp proto.Span) error {
	buf := g.seat.Buffer(batchSize)
	defer g.seat.Release(buf)
	b, payload, ok := buf.B[:0], 0, true
	for ok {
		if size := pieceHeader + int(sp.Length); len(b)+size <= cap(b) {
			if next := g.appendPiece(b, sp); len(next) > len(b) {
				b, payload = next, payload+int(sp.Length)
			}
		} else if err := g.sendPieces(b, payload); err != nil {
			return err
		} else {
			b, payload = b[:0], 0
			continue
		}
		if len(b) >= batchSize-chunk {
			break
		}
		sp, ok = g.upload.TryNext()
	}
	return g.sendPieces(b, payload)
}

// appendPiece reads a chunk behind its header. One that cannot be had is refused.
func (g *guest) appendPiece(b []byte, sp proto.Span) []byte {
	at, n := len(b), int(sp.Length)
	b = binary.BigEndian.AppendUint32(b, uint32(pieceHeader-4+n))
	b = append(b, byte(pp.Piece))
	b = binary.BigEndian.AppendUint32(b, sp.Piece)
	b = binary.BigEndian.AppendUint32(b, sp.Begin)
	b = b[:len(b)+n]
	if !g.seat.Has(sp.Piece) || g.seat.Read(b[len(b)-n:], sp.Piece, sp.Begin) != nil {
		g.reject(sp)
		return b[:at]
	}
	return b
}

func (g *guest) sendPieces(b []byte, payload int) error {
	if payload == 0 {
		return nil
	}
	if l := g.swarm.server.limit; l != nil {
		if err := l.WaitN(g.ctx, min(payload, l.Burst())); err != nil {
			return err
		}
	}
	if err := g.write(b); err != nil {
		return err
	}
	g.seat.Sent(payload)
	return nil
}

// write sends bytes whole, between others' messages.
func (g *guest) write(b []byte) error {
	g.writing.Lock()
	defer g.writing.Unlock()
	_ = g.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := g.conn.Write(b)
	return err
}
