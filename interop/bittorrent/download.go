package bittorrent

import (
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// download is what the swarm asked one guest for: spans, each of up to 16 chunks
// that are asked for one by one, as many at a time as the guest takes. Safe for
// concurrent use.
type download struct {
	mu     sync.Mutex
	spans  []*incoming // in the order in which they were asked for
	next   int         // of spans: those before it are asked for wholly
	flying int         // chunks that were asked for and have not come
	most   int         // of them at a time
	late   int         // chunks that were taken back, and may still come
	reply  reply
}

// incoming is a span on its way. Chunks are numbered from its begin.
type incoming struct {
	span       proto.Span
	buf        *peer.Buffer // from the first chunk on
	asked, got uint32       // bits
	reading    bool         // a chunk is read into buf just now
	over       bool         // it was taken back: whoever reads frees buf
}

func (in *incoming) chunks() int { return int(in.span.Length+chunk-1) / chunk }

// chunkAt is the part of the span with the number k.
func (in *incoming) chunkAt(k int) proto.Span {
	begin := uint32(k * chunk)
	return proto.Span{Piece: in.span.Piece, Begin: in.span.Begin + begin, Length: min(chunk, in.span.Length-begin)}
}

// add takes in a span that is wanted.
func (d *download) add(sp proto.Span) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spans = append(d.spans, &incoming{span: sp})
}

// ask calls f for every chunk that is to be asked for now.
func (d *download) ask(f func(proto.Span)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.next < len(d.spans) {
		in := d.spans[d.next]
		for k := bits.OnesCount32(in.asked); k < in.chunks(); k++ { // asked for in order
			if d.flying >= d.most {
				return
			}
			in.asked |= 1 << k
			if d.flying++; d.flying == 1 {
				d.reply.asked(time.Now())
			}
			f(in.chunkAt(k))
		}
		d.next++
	}
}

// begin finds the span of a chunk that comes, and keeps it until end. Nil means that
// the chunk is not wanted.
func (d *download) begin(chunkSpan proto.Span) (in *incoming, k int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	in, k = d.find(chunkSpan)
	if in != nil {
		in.reading = true
		d.reply.came(time.Now())
	}
	return in, k
}

// replyTime is how long the guest takes to answer when it has nothing else to send.
func (d *download) replyTime() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reply.time
}

func (d *download) find(c proto.Span) (*incoming, int) {
	for _, in := range d.spans {
		if in.span.Piece != c.Piece || c.Begin < in.span.Begin || c.Begin >= in.span.Begin+in.span.Length {
			continue
		}
		k := int(c.Begin-in.span.Begin) / chunk
		if in.chunkAt(k) == c && in.asked&^in.got&(1<<k) != 0 {
			return in, k
		}
	}
	return nil, 0
}

// end notes that the chunk that began has come. whole says that it was the last of
// its span, and over that the span was taken back meanwhile: in both cases its
// buffer is the caller's.
func (d *download) end(in *incoming, k int) (whole, over bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	in.reading = false
	if in.over {
		d.late--
		return false, true
	}
	in.got |= 1 << k
	d.flying--
	if bits.OnesCount32(in.got) < in.chunks() {
		return false, false
	}
	d.remove(in)
	return true, false
}

// unwanted says whether a chunk that nobody waits for was asked for once.
func (d *download) unwanted() (late bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.late > 0 {
		d.late--
		return true
	}
	return false
}

// lost is a span that was taken back before it was whole.
type lost struct {
	span  proto.Span
	buf   *peer.Buffer // nil when nothing came, or somebody reads into it
	bytes int          // that came
}

// cancel takes a span back, if it is there, and calls f for each chunk of it that is
// on its way.
func (d *download) cancel(sp proto.Span, f func(proto.Span)) (gone []lost) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.spans, func(in *incoming) bool { return in.span == sp })
	if i < 0 {
		return nil
	}
	in := d.spans[i]
	for k := range in.chunks() {
		if in.asked&^in.got&(1<<k) != 0 {
			f(in.chunkAt(k))
		}
	}
	return []lost{d.drop(in)}
}

// refused takes back the span of a chunk that the guest will not send.
func (d *download) refused(c proto.Span) []lost {
	d.mu.Lock()
	defer d.mu.Unlock()
	in, _ := d.find(c)
	if in == nil {
		d.late = max(d.late-1, 0)
		return nil
	}
	gone := d.drop(in)
	d.late-- // not that chunk
	return []lost{gone}
}

// clear takes every span back.
func (d *download) clear() (gone []lost) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.spans) > 0 {
		gone = append(gone, d.drop(d.spans[0]))
	}
	return gone
}

// drop takes out a span that is not whole.
func (d *download) drop(in *incoming) lost {
	coming := bits.OnesCount32(in.asked &^ in.got)
	d.reply.forget()
	d.flying -= coming
	d.late += coming
	d.remove(in)
	in.over = true
	gone := lost{span: in.span}
	for k := range in.chunks() {
		if in.got&(1<<k) != 0 {
			gone.bytes += int(in.chunkAt(k).Length)
		}
	}
	if !in.reading {
		gone.buf = in.buf
	}
	return gone
}

func (d *download) remove(in *incoming) {
	i := slices.Index(d.spans, in)
	d.spans = slices.Delete(d.spans, i, i+1)
	if i < d.next {
		d.next--
	}
}

// limit bounds the requests at a time to what the guest takes.
func (d *download) limit(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.most = min(max(n, 1), proto.MaxRanges)
}
