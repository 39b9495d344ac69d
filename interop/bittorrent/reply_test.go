package bittorrent

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestReplyTime has a client that answers on a timer: the longest waits count, and a
// short one by chance hardly.
func TestReplyTime(t *testing.T) {
	const ms = time.Millisecond
	now := time.Unix(1, 0)
	var r reply
	for i, c := range []struct{ took, least, most time.Duration }{
		{500 * ms, 500 * ms, 500 * ms},
		{20 * ms, 400 * ms, 499 * ms},
		{480 * ms, 480 * ms, 480 * ms},
		{time.Hour, maxReply, maxReply},
	} {
		r.asked(now)
		now = now.Add(c.took)
		r.came(now)
		if r.time < c.least || r.time > c.most {
			t.Errorf("answer %d: %v, want %v to %v", i, r.time, c.least, c.most)
		}
	}
	was := r.time
	r.came(now.Add(time.Second)) // nothing was asked of an idle client
	r.asked(now)
	r.forget()
	r.came(now.Add(10 * ms))
	if r.time != was {
		t.Errorf("%v, and %v before an answer of which nothing can be told", r.time, was)
	}
	for range 40 {
		r.asked(now)
		r.came(now.Add(10 * ms))
	}
	if r.time > 20*ms {
		t.Errorf("%v for a client that answers at once now", r.time)
	}
}

// TestReplyIsOfAnIdleClient takes the time of an answer only where nothing was on its
// way before.
func TestReplyIsOfAnIdleClient(t *testing.T) {
	d := &download{most: 100}
	sp := proto.Span{Length: 4 * chunk}
	d.add(sp)
	d.ask(func(proto.Span) {})
	d.reply.since = d.reply.since.Add(-300 * time.Millisecond)
	for k := range 4 {
		in, at := d.begin((&incoming{span: sp}).chunkAt(k))
		if in == nil {
			t.Fatal("a chunk is not wanted")
		}
		if k == 0 {
			if got := d.replyTime(); got < 300*time.Millisecond {
				t.Errorf("answered in %v", got)
			}
			d.add(proto.Span{Piece: 1, Length: chunk})
			d.ask(func(proto.Span) {})
		}
		if !d.reply.since.IsZero() {
			t.Errorf("chunk %d: the answer of a busy client is measured", k)
		}
		d.end(in, at)
	}
	d.cancel(proto.Span{Piece: 1, Length: chunk}, func(proto.Span) {})
	d.add(proto.Span{Piece: 2, Length: chunk})
	d.ask(func(proto.Span) {})
	if d.reply.since.IsZero() {
		t.Error("an idle client was asked, and its answer is not measured")
	}
}
