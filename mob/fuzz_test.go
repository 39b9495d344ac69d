package mob

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// history decodes bytes into events, sensible and hostile ones.
type history struct {
	data []byte
	now  time.Time
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

func (h *history) node() Node {
	b := h.byte()
	return Node{ID: h.peer(), Cluster: string(rune('A' + b%3)), Guest: b >= 192}
}

// piece is mostly one of the content.
func (h *history) piece() uint32 {
	if b := h.byte(); b < 250 {
		return uint32(b % fuzzPieces)
	} else {
		return []uint32{fuzzPieces, 1000, proto.MaxPieces - 1}[b%3]
	}
}

func (h *history) ranges() []proto.Range {
	var rs []proto.Range
	for range h.byte() % 4 {
		r := proto.Range{First: h.piece(), Count: uint32(1 + h.byte()%20)}
		if r.End() > proto.MaxPieces {
			r.Count = 1
		}
		rs = append(rs, r)
	}
	return rs
}

func (h *history) span() proto.Span {
	return proto.Span{Piece: h.piece(), Begin: uint32(h.byte()%20) * 8192, Length: uint32(1+h.byte()%16) * 16384}
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

func (h *history) event(asked []Send) Event {
	switch k := h.byte() % 28; k {
	case 0:
		return Learned{Nodes: []Node{h.node(), h.node()}}
	case 1, 2, 3:
		return Joined{Node: h.node(), Whole: k == 3}
	case 4:
		return Left{Peer: h.peer()}
	case 5:
		return Unreachable{Peer: h.peer()}
	case 6:
		return Stored{Piece: int(h.piece())}
	case 7:
		return Failed{Piece: int(h.piece()), Sources: []proto.PeerID{h.peer(), h.peer()}[:h.byte()%3]}
	case 8:
		return Lost{Piece: int(h.piece())}
	case 9:
		return Checked{Peer: h.peer(), Piece: int(h.piece())}
	case 10:
		return Arrived{Peer: h.peer(), Span: h.span()}
	case 11, 12, 13, 14, 15:
		if len(asked) > 0 { // the answer to a request
			a := asked[h.byte()%len(asked)]
			return Arrived{Peer: a.Peer, Span: a.Message.(*proto.Request).Span}
		}
	case 16, 17:
		h.now = h.now.Add(time.Duration(h.byte()) * time.Duration(1+h.byte()) * time.Millisecond)
		return Tick{}
	case 18:
		return Useless{Peer: h.peer(), Piece: int(h.piece())}
	case 19:
		return Decoded{Generation: h.byte()%8 - 1}
	case 20:
		return Polluted{Generation: h.byte()%8 - 1}
	case 21:
		return Liar{Peer: h.peer()}
	}
	return Received{Peer: h.peer(), Message: h.message()}
}

const fuzzPieces = 40

// run steps a state through the history; it returns the trace.
func (h *history) run(t *testing.T) string {
	t.Helper()
	cfg := Config{Self: "d", Cluster: "A", Length: fuzzPieces*(64<<10) - 5000, PieceLength: 64 << 10, Seed: 7, Tuning: DefaultTuning()}
	have := []proto.Range{{First: 3, Count: 2}}
	if h.byte()%2 == 1 { // five generations of four, the second whole
		cfg.Length, cfg.Coding = 20*(64<<10)-5000, Coding{Blocks: 4, Names: 8, Live: 2}
		have = []proto.Range{{First: 8, Count: 8}}
	}
	s := New(cfg, have)
	var trace []byte
	var asked []Send
	for n := 0; len(h.data) > 0 && n < 2000; n++ {
		for _, a := range s.Step(h.now, h.event(asked)) {
			send, ok := a.(Send)
			if !ok {
				trace = fmt.Appendf(trace, "%T%+v", a, a)
				continue
			}
			trace = append(trace, send.Peer...)
			var err error
			if trace, err = proto.AppendFrame(trace, send.Message); err != nil {
				t.Fatal(err)
			}
			if r, ok := send.Message.(*proto.Request); ok {
				checkSpan(t, s, r.Span)
				asked = append(asked, send)
			}
		}
		checkState(t, s)
	}
	return string(trace)
}

func checkSpan(t *testing.T, s *State, sp proto.Span) {
	t.Helper()
	i := int(sp.Piece)
	if i >= s.pieces || s.have.Has(i) || int(sp.Begin)%proto.Cell != 0 || int(sp.Begin+sp.Length) > s.pieceSize(i) {
		t.Fatalf("asks for %v", sp)
	}
}

// checkState compares what the state counts with what it counts it from.
func checkState(t *testing.T, s *State) {
	t.Helper()
	for _, g := range s.coding.live {
		if now := s.surveyed(g); !g.stale && g.survey != now {
			t.Fatalf("the survey of generation %d is %+v, and was %+v", g.number, now, g.survey)
		}
	}
	for i := range s.pieces {
		f := s.fetches[i]
		n := 0
		for _, in := range []bool{s.have.Has(i), s.todo.Has(i), f != nil} {
			if in {
				n++
			}
		}
		least := 1
		if c := &s.coding; c.coded() && (c.at(i) == nil || c.spent.Has(i) || c.at(i).plain) {
			least = 0
		}
		if n < least || n > 1 {
			t.Fatalf("piece %d: have %v, todo %v, fetched %v", i, s.have.Has(i), s.todo.Has(i), f != nil)
		}
		holders, claims := 0, 0
		clusters := map[string]bool{}
		for _, p := range s.peers {
			switch has, claim := p.have.Has(i), p.claim.Has(i); {
			case p.local && has:
				holders++
			case p.local && claim:
				claims++
			case has || claim:
				clusters[p.Cluster] = true
			}
		}
		if int(s.holders[i]) != holders || int(s.claims[i]) != claims || int(s.rarity[i]) != len(clusters) {
			t.Fatalf("piece %d: holders %d, claims %d, rarity %d, want %d, %d, %d", i, s.holders[i], s.claims[i], s.rarity[i], holders, claims, len(clusters))
		}
	}
	checkRequests(t, s)
}

func checkRequests(t *testing.T, s *State) {
	t.Helper()
	links := map[*link]int{}
	for _, p := range s.peers {
		sum := 0
		for _, r := range p.out {
			sum += int(r.span.Length)
			if s.fetches[r.fetch.piece] != r.fetch {
				t.Fatalf("peer %s owes a span of a fetch that is over", p.ID)
			}
		}
		if sum != p.outBytes {
			t.Fatalf("peer %s owes %d bytes, counted %d", p.ID, sum, p.outBytes)
		}
		if p.link != nil {
			links[p.link] += sum
		}
	}
	for _, l := range s.links {
		if l.out != links[l] {
			t.Fatalf("a link has %d bytes in flight, counted %d", links[l], l.out)
		}
	}
}

// FuzzStep wants no panic, only requests that make sense, books that balance,
// and the same actions for the same history.
func FuzzStep(f *testing.F) {
	f.Add([]byte("join and ask"))
	seed := make([]byte, 4000)
	for i := range seed {
		seed[i] = byte(i * i >> 3)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		first := (&history{data, start}).run(t)
		if again := (&history{data, start}).run(t); again != first {
			t.Fatal("the same history gave other actions")
		}
	})
}
