package mob

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// pulsed is an external peer that looks at its requests twice a second, and sends a bounded number of
// bytes each time. The bound starts low.
type pulsed struct {
	most  int
	waits []proto.Span
	sent  int // bytes in total
}

const (
	pulse      = 500 * time.Millisecond
	pulsePiece = 256 << 10
)

// run has a node fetch from the peer for a time.
func (g *pulsed) run(pieces int, length time.Duration) *State {
	now := time.Unix(1, 0)
	s := New(Config{
		Self:        "n",
		Cluster:     "B",
		Length:      int64(pieces) * pulsePiece,
		PieceLength: pulsePiece,
		Tuning:      DefaultTuning(),
	}, nil)
	got := map[uint32]int{}
	type pong struct {
		at time.Time
		ev Received
	}
	var pongs []pong
	step := func(ev Event) {
		for _, a := range s.Step(now, ev) {
			send, ok := a.(Send)
			if !ok || send.Peer != "g" {
				continue
			}
			switch m := send.Message.(type) {
			case *proto.Request:
				g.waits = append(g.waits, m.Span)
			case *proto.Cancel:
				g.waits = slices.DeleteFunc(g.waits, func(sp proto.Span) bool { return sp == m.Span })
			case *proto.Ping: // answered for it, about when it would answer
				pongs = append(pongs, pong{now.Add(pulse * 3 / 4), Received{"g", &proto.Pong{Nonce: m.Nonce}}})
			}
		}
	}
	step(Learned{})
	for _, id := range []proto.PeerID{"m", "k", "l"} {
		step(Joined{Node: Node{ID: id, Cluster: "B"}})
	}
	step(Joined{Node: Node{ID: "g", Cluster: "bt:g", External: true}})
	step(Received{"g", &proto.Have{Have: []proto.Range{{Count: uint32(pieces)}}}})
	for looks := range length / pulse {
		out := g.waits[:min(len(g.waits), 3<<min(looks, 20))] // 3 at first
		g.waits = g.waits[len(out):]
		room := 0
		for range 25 {
			now = now.Add(pulse / 25)
			step(Tick{})
			for len(pongs) > 0 && !now.Before(pongs[0].at) {
				p := pongs[0]
				pongs = pongs[1:]
				step(p.ev)
			}
			room += g.most / 25
			for len(out) > 0 && int(out[0].Length) <= room {
				sp := out[0]
				out = out[1:]
				room -= int(sp.Length)
				g.sent += int(sp.Length)
				step(Arrived{"g", sp})
				if got[sp.Piece] += int(sp.Length); got[sp.Piece] == pulsePiece {
					step(Stored{Piece: int(sp.Piece)})
				}
			}
			if len(out) == 0 {
				room = 0
			}
		}
		g.waits = slices.Concat(out, g.waits)
	}
	return s
}

// TestExternalPeerOnATimer checks that the requests fill what the peer sends each time, and do not
// shrink because its answers take long.
func TestExternalPeerOnATimer(t *testing.T) {
	for _, rate := range []int{1 << 20, 8 << 20} { // bytes per second
		g := &pulsed{most: rate / 2}
		g.run(1000, 10*time.Second)
		before := g.sent
		if before < 4*rate {
			t.Errorf("%d bytes in the first ten seconds, of %d that it could send", before, 10*rate)
		}
		g = &pulsed{most: rate / 2}
		s := g.run(1000, 20*time.Second)
		if last := g.sent - before; last < 7*rate {
			t.Errorf("%d bytes in the next ten seconds, of %d", last, 10*rate)
		}
		if out := s.Joined["g"].Pipe.InFlight(); out > 2*rate {
			t.Errorf("%d bytes in flight of a peer that sends %d a second", out, rate)
		}
	}
}

// TestExternalPeerIsNotSlow checks that a piece is given away only if the timer of an external peer
// does not explain its delay.
func TestExternalPeerIsNotSlow(t *testing.T) {
	s := (&pulsed{most: 1 << 20}).run(1000, 10*time.Second)
	if fs := s.Slow(s.Site()); len(fs) > 0 {
		t.Errorf("%d of %d pieces count as slow at a peer that keeps its pace", len(fs), len(s.Fetches))
	}
	s.Step(s.Now.Add(2900*time.Millisecond), Tick{}) // within Stall
	if fs := s.Slow(s.Site()); len(fs) == 0 {
		t.Error("no piece counts as slow at a peer that stopped sending")
	}
}
