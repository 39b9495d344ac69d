package permutation

import (
	"slices"
	"testing"

	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// FuzzStep feeds a state with what peers and a shell may say, and with what they
// may not. It must not panic, and keep to what a node does: one block out and one in
// at a time, to a peer that is there and lacks the batch.
func FuzzStep(f *testing.F) {
	f.Add([]byte("\x00the quick brown fox jumps over the lazy dog"))
	f.Add([]byte{1, 12, 0, 12, 1, 3, 1, 0, 4, 1, 0, 5, 1, 0, 8, 1, 0, 9, 0, 0, 10, 1, 0, 7, 1, 0, 2, 1, 0, 0, 3, 0})
	f.Add([]byte{7, 2, 1, 0, 6, 1, 0, 6, 1, 0, 3, 2, 1, 11, 1, 1, 12, 0, 0, 4, 1, 0, 5, 3, 0, 12, 0, 0, 4, 3, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		mode := data[0]
		const n = 5
		s, topology := meet(n, Config{Batches: []int{3, 1, 2}, Order: Order(mode % 3), Uncoded: mode&4 != 0, Whole: mode&8 != 0, Window: int(mode>>4) % 3})
		w := watch{lacks: map[proto.PeerID][]int{}}
		for _, id := range topology.Members()[1:] {
			w.lacks[id] = []int{0, 1, 2}
		}
		for data = data[1:]; len(data) >= 3; data = data[3:] {
			kind, id, arg := data[0]%18, proto.PeerID("000"+string('0'+data[1]%(n+1))), int(data[2])%5-1
			w.check(t, event(kind, id, arg), s)
		}
	})
}

// event makes an event of three bytes.
func event(kind byte, id proto.PeerID, arg int) Event {
	switch kind {
	case 0:
		return Permuted{Topology: NewTopology(uint64(arg), ids(max(arg, 0)+2)), Since: []int{0, arg}}
	case 1:
		return Joined{Peer: id, Decoded: []int{arg}}
	case 2:
		return Left{Peer: id}
	case 3:
		return Offered{Peer: id, Batch: arg, Round: arg << 40}
	case 4:
		return Accepted{Peer: id}
	case 5:
		return Refused{Peer: id, Decoded: arg > 2}
	case 6:
		return Sent{Peer: id}
	case 7:
		return Received{Peer: id, Batch: arg, Block: arg}
	case 8:
		return Decoded{Batch: arg}
	case 9:
		return Heard{Peer: id, Batch: arg}
	case 10:
		return Mapped{Peer: id, Batch: arg, Has: pieceset.New(max(arg, 0))}
	case 11:
		return Offered{Peer: id, Batch: arg, Round: arg, Skipped: arg >> 2}
	case 15:
		return Filled{Batch: arg}
	case 16:
		return Lacks{Peer: id, Batch: arg}
	case 14:
		return Discarded{Batch: arg}
	case 13:
		return Confirmed{Peer: id}
	case 12:
		return Freed{Peer: id}
	default:
		return Tick{}
	}
}

// watch knows what a state was told, and what it must not do then.
type watch struct {
	lacks    map[proto.PeerID][]int // by joined peer: the batches that it lacks
	to, from proto.PeerID
	sending  bool
}

func (w *watch) check(t *testing.T, ev Event, s *State) {
	switch ev := ev.(type) {
	case Joined:
		if w.lacks[ev.Peer] == nil && ev.Peer != s.cfg.Self {
			w.lacks[ev.Peer] = []int{0, 1, 2}
			w.has(ev.Peer, ev.Decoded[0])
		}
	case Left:
		delete(w.lacks, ev.Peer)
		if w.to == ev.Peer {
			w.to, w.sending = "", false
		}
		if w.from == ev.Peer {
			w.from = ""
		}
	case Lacks:
		if w.lacks[ev.Peer] != nil && ev.Batch >= 0 && ev.Batch < 3 && !slices.Contains(w.lacks[ev.Peer], ev.Batch) {
			w.lacks[ev.Peer] = append(w.lacks[ev.Peer], ev.Batch)
		}
	case Heard:
		w.has(ev.Peer, ev.Batch)
	case Refused:
		if ev.Peer == w.to && !w.sending {
			if w.to = ""; ev.Decoded {
				w.has(ev.Peer, s.batch)
			}
		}
	case Sent:
		if ev.Peer == w.to && w.sending {
			w.to, w.sending = "", false
		}
	case Received:
		if ev.Peer == w.from {
			w.from = ""
		}
	}
	for _, a := range s.Step(ev) {
		w.did(t, ev, a, s.cfg.Window > 0)
	}
}

// has notes that a peer has a batch.
func (w *watch) has(id proto.PeerID, batch int) {
	w.lacks[id] = slices.DeleteFunc(w.lacks[id], func(b int) bool { return b == batch })
}

func (w *watch) did(t *testing.T, ev Event, a Action, unasked bool) {
	switch a := a.(type) {
	case Offer:
		if w.to != "" || !slices.Contains(w.lacks[a.Peer], a.Batch) {
			t.Fatalf("after %T%+v: offers %+v, beside %q, and the peers lack %v", ev, ev, a, w.to, w.lacks)
		}
		w.to = a.Peer
	case Send:
		if unasked && w.to == "" {
			w.to = a.Peer
		}
		if _, ok := ev.(Accepted); !ok && !unasked || a.Peer != w.to || w.sending || !slices.Contains(w.lacks[a.Peer], a.Batch) && unasked {
			t.Fatalf("after %T%+v: sends %+v, having offered to %q", ev, ev, a, w.to)
		}
		w.sending = true
	case Accept:
		if w.from != "" {
			t.Fatalf("accepts %+v, beside %q", a, w.from)
		}
		w.from = a.Peer
	}
}
