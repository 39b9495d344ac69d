package bittorrent

import (
	"context"
	"encoding/binary"
	"slices"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// batchSize is the approximate size of requested chunks that are read and written at a
// time, in bytes.
const batchSize = proto.MaxBlock

// upload serves the requests of a client.
type upload struct {
	attachment *peer.Attachment
	requests   *payload.Queue
	out        *sender
	limiter    *limit.Bucket // of all clients
}

// loop serves requests until the queue is closed.
func (u *upload) loop(ctx context.Context) error {
	var limits limit.Chain
	for {
		s, _, ok := u.requests.Next()
		if !ok {
			return context.Cause(ctx)
		}
		if limits == nil { // it has joined: a client without a session has no request in the queue
			limits = slices.Concat(u.attachment.Upload(), limit.Chain{u.limiter})
		}
		if err := u.serve(ctx, s, limits); err != nil {
			return err
		}
	}
}

// serve serves a request, and as many of the next ones as fit a batch.
func (u *upload) serve(ctx context.Context, s proto.Span, limits limit.Chain) error {
	buf := payload.GetBuffer(batchSize)
	defer buf.Release()
	b, payload, ok := buf.B[:0], 0, true
	most := limits.Chunk(batchSize - chunk)
	for ok {
		if len(b)+pieceHeader+int(s.Length) > cap(b) {
			if err := u.write(ctx, b, payload, limits); err != nil {
				return err
			}
			b, payload = b[:0], 0
		}
		if next := u.appendPiece(b, s); len(next) > len(b) {
			b, payload = next, payload+int(s.Length)
		}
		if len(b) >= most {
			break
		}
		s, ok = u.requests.TryNext()
	}
	return u.write(ctx, b, payload, limits)
}

// appendPiece appends a piece message. It rejects the request if the chunk cannot be
// read.
func (u *upload) appendPiece(b []byte, s proto.Span) []byte {
	begin, n := len(b), int(s.Length)
	b = binary.BigEndian.AppendUint32(b, uint32(pieceHeader-4+n))
	b = append(b, byte(pp.Piece))
	b = binary.BigEndian.AppendUint32(b, s.Piece)
	b = binary.BigEndian.AppendUint32(b, s.Begin)
	b = b[:len(b)+n]
	if !u.attachment.Has(s.Piece) || u.attachment.Read(b[len(b)-n:], s.Piece, s.Begin) != nil {
		u.out.reject(s)
		return b[:begin]
	}
	return b
}

// write writes piece messages with payload bytes of payload, subject to the limits.
func (u *upload) write(ctx context.Context, b []byte, payload int, limits limit.Chain) error {
	if payload == 0 {
		return nil
	}
	if err := limits.Wait(ctx, payload); err != nil {
		return err
	}
	if err := u.out.write(b); err != nil {
		return err
	}
	u.attachment.Sent(payload)
	return nil
}
