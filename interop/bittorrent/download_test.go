package bittorrent

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestReplyTime checks a client that replies on a timer: the estimate follows the longest times.
func TestReplyTime(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	now := time.Unix(1, 0)
	var r replyTimer
	for i, c := range []struct{ took, least, most time.Duration }{
		{500 * ms, 500 * ms, 500 * ms},
		{20 * ms, 400 * ms, 499 * ms},
		{480 * ms, 480 * ms, 480 * ms},
		{time.Hour, maxReplyTime, maxReplyTime},
	} {
		r.start(now)
		now = now.Add(c.took)
		r.stop(now)
		if r.estimate < c.least || r.estimate > c.most {
			t.Errorf("reply %d: %v, want %v to %v", i, r.estimate, c.least, c.most)
		}
	}
	was := r.estimate
	r.stop(now.Add(time.Second)) // without a measurement
	r.start(now)
	r.reset()
	r.stop(now.Add(10 * ms))
	if r.estimate != was {
		t.Errorf("%v, and %v before a reply that was not measured", r.estimate, was)
	}
	for range 40 {
		r.start(now)
		r.stop(now.Add(10 * ms))
	}
	if r.estimate > 20*ms {
		t.Errorf("%v for a client that replies immediately now", r.estimate)
	}
}

// TestReplyTimeOfIdleClient measures a reply only if no other chunk was in flight.
func TestReplyTimeOfIdleClient(t *testing.T) {
	t.Parallel()
	d := &download{limit: 100}
	sp := proto.Span{Length: 4 * chunk}
	d.add(sp)
	d.request(func(proto.Span) {})
	d.reply.since = d.reply.since.Add(-300 * time.Millisecond)
	for k := range 4 {
		b, n := d.startChunk((&block{span: sp}).chunkSpan(k))
		if b == nil {
			t.Fatal("a chunk is not requested")
		}
		if k == 0 {
			if got := d.replyTime(); got < 300*time.Millisecond {
				t.Errorf("a reply time of %v", got)
			}
			d.add(proto.Span{Piece: 1, Length: chunk})
			d.request(func(proto.Span) {})
		}
		if !d.reply.since.IsZero() {
			t.Errorf("chunk %d: the reply of a busy client is measured", k)
		}
		d.endChunk(b, n)
	}
	d.cancel(proto.Span{Piece: 1, Length: chunk}, func(proto.Span) {})
	d.add(proto.Span{Piece: 2, Length: chunk})
	d.request(func(proto.Span) {})
	if d.reply.since.IsZero() {
		t.Error("the reply of an idle client is not measured")
	}
}
