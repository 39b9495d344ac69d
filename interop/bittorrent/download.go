package bittorrent

import (
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// download contains the open requests of the swarm to one client: spans of up to 16
// chunks. It requests the chunks, as many concurrently as the client queues. Safe for
// concurrent use.
type download struct {
	mu       sync.Mutex
	blocks   []*block // in the order of the swarm's requests
	next     int      // of blocks: all chunks of those before it are requested
	inFlight int      // requested chunks that have not arrived
	limit    int      // of inFlight
	late     int      // chunks in flight of dropped blocks, which may still arrive
	reply    replyTimer

	unrequested int // chunks without a request
}

// block is a requested span. Its chunks are numbered from its begin.
type block struct {
	span      proto.Span
	buf       *payload.Buffer // nil until the first chunk arrives
	requested uint32          // chunks, as bits
	received  uint32
	reading   bool // the reader reads a chunk into buf
	dropped   bool // if reading, the reader releases buf
}

func (b *block) chunks() int { return int(b.span.Length+chunk-1) / chunk }

func (b *block) chunkSpan(k int) proto.Span {
	begin := uint32(k * chunk)
	return proto.Span{Piece: b.span.Piece, Begin: b.span.Begin + begin, Length: min(chunk, b.span.Length-begin)}
}

func (b *block) inFlight(k int) bool { return b.requested&^b.received&(1<<k) != 0 }

func (d *download) add(s proto.Span) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.blocks = append(d.blocks, &block{span: s})
}

// request calls send for every chunk to request now.
func (d *download) request(send func(proto.Span)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.next < len(d.blocks) {
		b := d.blocks[d.next]
		for k := bits.OnesCount32(b.requested); k < b.chunks(); k++ { // they are requested in order
			if d.inFlight >= d.limit {
				return
			}
			b.requested |= 1 << k
			d.inFlight++
			if d.inFlight == 1 {
				d.reply.start(time.Now())
			}
			send(b.chunkSpan(k))
		}
		d.next++
	}
}

// startChunk returns the block of a chunk that arrives, and the chunk's number. The
// block's buffer is the caller's until endChunk. It returns nil without a request.
func (d *download) startChunk(s proto.Span) (b *block, k int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, k = d.find(s)
	if b != nil {
		b.reading = true
		d.reply.stop(time.Now())
	}
	return b, k
}

func (d *download) find(s proto.Span) (*block, int) {
	for _, b := range d.blocks {
		if b.span.Piece != s.Piece || s.Begin < b.span.Begin || s.Begin >= b.span.Begin+b.span.Length {
			continue
		}
		k := int(s.Begin-b.span.Begin) / chunk
		if b.chunkSpan(k) == s && b.inFlight(k) {
			return b, k
		}
	}
	return nil, 0
}

// endChunk ends startChunk. complete reports whether the block is complete, and dropped
// whether it was dropped in the meantime. In both cases the caller owns its buffer.
func (d *download) endChunk(b *block, k int) (complete, dropped bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b.reading = false
	if b.dropped {
		d.late--
		return false, true
	}
	b.received |= 1 << k
	d.inFlight--
	if bits.OnesCount32(b.received) < b.chunks() {
		return false, false
	}
	d.remove(b)
	return true, false
}

// skip counts a chunk without an open request, and fails if it is none of those in flight and there were many.
func (d *download) skip() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.late > 0 {
		d.late--
	} else if d.unrequested++; d.unrequested > maxUnrequested {
		return protocolError("%d chunks without a request", d.unrequested)
	}
	return nil
}

// replyTime returns the client's time to reply while it sends nothing else.
func (d *download) replyTime() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reply.estimate
}

type dropped struct {
	span  proto.Span
	buf   *payload.Buffer // nil if there is none, or the reader releases it
	bytes int             // received
}

// cancel drops the block of a span, if any, and calls send for each of its chunks in
// flight.
func (d *download) cancel(s proto.Span, send func(proto.Span)) []dropped {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.blocks, func(b *block) bool { return b.span == s })
	if i < 0 {
		return nil
	}
	b := d.blocks[i]
	for k := range b.chunks() {
		if b.inFlight(k) {
			send(b.chunkSpan(k))
		}
	}
	return []dropped{d.drop(b)}
}

func (d *download) reject(s proto.Span) []dropped {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, _ := d.find(s)
	if b == nil {
		d.late = max(d.late-1, 0)
		return nil
	}
	gone := d.drop(b)
	d.late-- // the rejected chunk
	return []dropped{gone}
}

func (d *download) dropAll() (gone []dropped) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.blocks) > 0 {
		gone = append(gone, d.drop(d.blocks[0]))
	}
	return gone
}

// drop removes a block that is not complete.
func (d *download) drop(b *block) dropped {
	inFlight := bits.OnesCount32(b.requested &^ b.received)
	d.reply.reset()
	d.inFlight -= inFlight
	d.late += inFlight
	d.remove(b)
	b.dropped = true
	gone := dropped{span: b.span}
	for k := range b.chunks() {
		if b.received&(1<<k) != 0 {
			gone.bytes += int(b.chunkSpan(k).Length)
		}
	}
	if !b.reading {
		gone.buf = b.buf
	}
	return gone
}

func (d *download) remove(b *block) {
	i := slices.Index(d.blocks, b)
	d.blocks = slices.Delete(d.blocks, i, i+1)
	if i < d.next {
		d.next--
	}
}

// setLimit limits the requests in flight to the queue of the client.
func (d *download) setLimit(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit = min(max(n, 1), proto.MaxRanges)
}

// replyTimer measures the time to reply to a request of a client with nothing else to
// send. Some clients handle requests on a timer unless they are sending: Transmission
// 3.00 takes up to half a second when it is idle. The swarm must treat this as latency,
// covered by more requests, and not as a queue, shortened by fewer.
type replyTimer struct {
	estimate time.Duration // approximately the longest recent time
	since    time.Time     // of the request to an idle client, zero after the reply
}

// maxReplyTime bounds the estimate.
const maxReplyTime = time.Second

// start starts a measurement with a request to an idle client.
func (r *replyTimer) start(now time.Time) { r.since = now }

// stop ends a measurement with a reply. A single reply may be early by chance, so the
// estimate decreases slowly.
func (r *replyTimer) stop(now time.Time) {
	if r.since.IsZero() {
		return
	}
	r.estimate = max(min(now.Sub(r.since), maxReplyTime), r.estimate-r.estimate/8)
	r.since = time.Time{}
}

// reset drops a measurement, when not every request will have a reply.
func (r *replyTimer) reset() { r.since = time.Time{} }
