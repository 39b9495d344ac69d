package pickertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// Fuzz steps a State with a new picker through histories of events, sensible and hostile ones. It
// wants no panic, only requests that make sense, books that balance, and the same actions for
// the same history. newSubject returns a new Subject of a node that has some numbers, and these.
func Fuzz(f *testing.F, newSubject func() (Subject, []proto.Range)) {
	f.Add([]byte("join and ask"))
	f.Add(seed())
	f.Fuzz(func(t *testing.T, data []byte) {
		run := func() string {
			sub, have := newSubject()
			return (&history{data: data, count: sub.Layout().Count, now: time.Unix(1e9, 0)}).run(t, sub, have)
		}
		first, second := run(), run()
		if first != second {
			t.Fatal("the same history gave other actions")
		}
	})
}

func seed() []byte {
	b := make([]byte, 4000)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return b
}

// history decodes bytes into events.
type history struct {
	data     []byte
	count    int // numbers of the content
	now      time.Time
	requests []mob.Send // all so far
}

// run steps a State through the history, and returns what it did.
func (h *history) run(t *testing.T, sub Subject, have []proto.Range) string {
	t.Helper()
	k := &spy{Picker: sub.Picker}
	s := mob.New(mob.Config{Self: "d", Cluster: "A", Seed: 7, Tuning: mob.DefaultTuning(), Picker: k, Growing: sub.Growing}, have)
	var trace []byte
	for n := 0; len(h.data) > 0 && n < 2000; n++ {
		for _, a := range s.Step(h.now, h.event()) {
			trace = h.note(t, trace, k, a)
		}
		h.check(t, sub, k, s)
	}
	return string(trace)
}

// note appends an action to a trace.
func (h *history) note(t *testing.T, trace []byte, k *spy, a mob.Action) []byte {
	t.Helper()
	send, ok := a.(mob.Send)
	if !ok {
		return fmt.Appendf(trace, "%T%+v", a, a)
	}
	trace, err := proto.AppendFrame(append(trace, send.Peer...), send.Message)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := send.Message.(*proto.Request); ok {
		h.requests = append(h.requests, send)
		i, l := int(r.Piece), k.Layout()
		size := l.SizeOf(i)
		if i >= h.count || k.control.Stored.Have.Has(i) || int(r.Begin)%proto.Cell != 0 || int(r.Begin+r.Length) > size ||
			l.Whole && int(r.Length) != size {
			t.Fatalf("requests %v", r.Span)
		}
	}
	return trace
}

// check wants each number to be stored, wanted or on its way, or none of these.
func (h *history) check(t *testing.T, sub Subject, k *spy, s *mob.State) {
	t.Helper()
	for i := range h.count {
		stored, wanted, fetched := k.control.Stored.Have.Has(i), k.control.Wanted.Has(i), k.control.Fetches[i] != nil
		n := 0
		for _, in := range []bool{stored, wanted, fetched} {
			if in {
				n++
			}
		}
		if n > 1 {
			t.Fatalf("number %d: stored %v, wanted %v, in flight %v", i, stored, wanted, fetched)
		}
	}
	if sub.Check == nil {
		return
	}
	if err := sub.Check(s); err != nil {
		t.Fatal(err)
	}
}

func (h *history) byte() int {
	if len(h.data) == 0 {
		return 0
	}
	b := h.data[0]
	h.data = h.data[1:]
	return int(b)
}

func (h *history) peer() proto.PeerID { return proto.PeerID(rune('a' + h.byte()%8)) }

func (h *history) node() mob.Node {
	b := h.byte()
	return mob.Node{ID: h.peer(), Cluster: string(rune('A' + b%3)), External: b >= 192}
}

// number is mostly one of the content.
func (h *history) number() uint32 {
	b := h.byte()
	if b < 250 {
		return uint32(b % h.count)
	}
	return []uint32{uint32(h.count), 1000, proto.MaxPieces - 1}[b%3]
}

func (h *history) ranges() []proto.Range {
	var rs []proto.Range
	for range h.byte() % 4 {
		r := proto.Range{First: h.number(), Count: uint32(1 + h.byte()%20)}
		if r.End() > proto.MaxPieces {
			r.Count = 1
		}
		rs = append(rs, r)
	}
	return rs
}

func (h *history) span() proto.Span {
	return proto.Span{Piece: h.number(), Begin: uint32(h.byte()%20) * 8192, Length: uint32(1+h.byte()%16) * 16384}
}

func (h *history) message() proto.Message {
	switch h.byte() % 10 {
	case 0, 1:
		return &proto.Have{Have: h.ranges(), Claim: h.ranges(), Drop: h.ranges(), Left: uint32(h.byte())}
	case 2:
		return &proto.Want{Pieces: h.ranges()}
	case 3:
		return &proto.Reject{Span: h.span()}
	case 4:
		return &proto.Steal{Rate: uint64(h.byte()) << (h.byte() % 64)}
	case 5:
		return &proto.Give{Pieces: h.ranges()}
	case 6:
		return &proto.Ping{Nonce: uint64(h.byte()) << (h.byte() % 64)}
	case 7:
		return &proto.Pong{Nonce: uint64(h.byte()) << (h.byte() % 64)}
	}
	return &proto.Hello{}
}

func (h *history) event() mob.Event {
	switch k := h.byte() % 30; k {
	case 0:
		return mob.Learned{Nodes: []mob.Node{h.node(), h.node()}}
	case 1, 2, 3:
		return mob.Joined{Node: h.node(), Whole: k == 3}
	case 4:
		return mob.Left{Peer: h.peer()}
	case 5:
		return mob.Unreachable{Peer: h.peer()}
	case 6:
		return mob.Stored{Piece: int(h.number())}
	case 7:
		return mob.Failed{Piece: int(h.number()), Sources: []proto.PeerID{h.peer(), h.peer()}[:h.byte()%3]}
	case 8:
		return mob.Lost{Piece: int(h.number())}
	case 9:
		return mob.Checked{Peer: h.peer(), Piece: int(h.number())}
	case 10:
		return mob.Arrived{Peer: h.peer(), Span: h.span()}
	case 11, 12, 13, 14, 15:
		if len(h.requests) > 0 { // the answer to a request
			a := h.requests[h.byte()%len(h.requests)]
			return mob.Arrived{Peer: a.Peer, Span: a.Message.(*proto.Request).Span}
		}
	case 16, 17:
		h.now = h.now.Add(time.Duration(h.byte()) * time.Duration(1+h.byte()) * time.Millisecond)
		return mob.Tick{}
	case 18:
		return mob.Useless{Peer: h.peer(), Piece: int(h.number())}
	case 19:
		return mob.Decoded{Generation: h.byte()%8 - 1}
	case 20:
		return mob.Polluted{Generation: h.byte()%8 - 1}
	case 21:
		return mob.Liar{Peer: h.peer()}
	case 22:
		return mob.Withheld{Range: proto.Range{First: h.number(), Count: 8}}
	case 23:
		return mob.Offered{Range: proto.Range{First: h.number(), Count: 8}}
	case 24, 25:
		g := mob.Grown{First: int(h.number())}
		for range h.byte() % 8 {
			g.Sizes = append(g.Sizes, 1+h.byte()<<8)
		}
		return g
	}
	return mob.Received{Peer: h.peer(), Message: h.message()}
}
