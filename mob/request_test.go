package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestStartedPieceGoesFirst checks that a started piece gets all of the room on a link before another
// peer's new piece.
func TestStartedPieceGoesFirst(t *testing.T) {
	const length = 256 << 10
	now := time.Unix(1, 0)
	s := New(Config{Self: "m", Cluster: "B", Length: 2 * length, PieceLength: length, Tuning: DefaultTuning()}, nil)
	has := func(id proto.PeerID, i int) Event {
		return Received{id, &proto.Have{Have: []proto.Range{{First: uint32(i), Count: 1}}}}
	}
	var requested []proto.Span
	for _, ev := range []Event{
		Learned{},
		Joined{Node: Node{ID: "a", Cluster: "A"}},
		Joined{Node: Node{ID: "z", Cluster: "A"}},
		has("z", 1),
		has("a", 0),
	} {
		requested = append(requested, requests(s.Step(now, ev))...)
	}
	for k := 0; len(requested) < 16; k++ {
		if k == len(requested) {
			t.Fatalf("nothing is requested after %d blocks", k)
		}
		now = now.Add(10 * time.Millisecond)
		requested = append(requested, requests(s.Step(now, Arrived{"z", requested[k]}))...)
	}
	total := 0
	for _, sp := range requested {
		if total < length && sp.Piece != 1 {
			t.Fatalf("piece %d is started when %d bytes of the first were requested", sp.Piece, total)
		}
		total += int(sp.Length)
	}
}

// TestShortPiecesRequestedTogether checks that a local peer is sent the requests of two short pieces at a time.
func TestShortPiecesRequestedTogether(t *testing.T) {
	const pieces, length = 64, 64 << 10
	now := time.Unix(1, 0)
	s := New(Config{Self: "m", Cluster: "B", Length: pieces * length, PieceLength: length, Tuning: DefaultTuning()}, nil)
	most := &proto.Have{Have: []proto.Range{{Count: pieces - 1}}}
	var requested []proto.Span
	messages := 0
	step := func(ev Event) {
		now = now.Add(10 * time.Millisecond)
		if spans := requests(s.Step(now, ev)); len(spans) > 0 {
			messages++
			requested = append(requested, spans...)
		}
	}
	step(Learned{})
	step(Joined{Node: Node{ID: "z", Cluster: "B"}})
	step(Received{"z", most})
	for k := 0; k < len(requested); k++ {
		step(Arrived{"z", requested[k]})
		step(Stored{int(requested[k].Piece)})
	}
	if len(requested) != pieces-1 || messages > pieces/2+2 {
		t.Errorf("%d of %d pieces were requested at %d times", len(requested), pieces, messages)
	}
}

// requests returns the spans that actions request.
func requests(as []Action) (spans []proto.Span) {
	for _, a := range as {
		if send, ok := a.(Send); ok {
			if m, ok := send.Message.(*proto.Request); ok {
				spans = append(spans, m.Span)
			}
		}
	}
	return spans
}
