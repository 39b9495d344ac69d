package outcast

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// cluster is members a, b, c and so on, all of whom wait.
func cluster(n int) (ms []Member) {
	for i := range n {
		ms = append(ms, Member{ID: proto.PeerID(rune('a' + i)), Waits: true})
	}
	return ms
}

// TestWordOfMost wants who is shown out by most to be slow, once two say so, and as long as
// they do.
func TestWordOfMost(t *testing.T) {
	for n := 2; n <= 8; n++ {
		var w Words
		ms := cluster(n)
		accused := ms[0].ID
		for i := 1; i < n; i++ {
			w.Heard(ms[i].ID, accused)
			w.Heard(ms[i].ID, accused) // again, which counts for nothing
			got, slow := w.Rations(ms), i == max(2, (n-1)/2+1)
			if slow != slices.Equal(got, []Ration{{accused, Rate}}) || !slow && got != nil {
				t.Errorf("%d of %d say so: %v", i, n-1, got)
			}
		}
		for i := n - 1; i > 0; i-- {
			w.Left(ms[i].ID)
			ms = ms[:i]
			if len(ms) > 2 && w.Rations(ms) != nil {
				t.Errorf("of %d one left, and the others still say so", n)
			}
		}
		if got := w.Rations(ms); n > 2 && !slices.Equal(got, []Ration{{accused, 0}}) || !w.None() {
			t.Errorf("nobody of %d is there any more: %v", n, got)
		}
	}
}

// TestSlander has one member speak of all others: nobody listens, and its words of who is
// an outcast count once.
func TestSlander(t *testing.T) {
	for n := 2; n <= 8; n++ {
		var w Words
		ms := cluster(n)
		for _, m := range ms {
			w.Heard("b", m.ID)
		}
		if got := w.Rations(ms); got != nil {
			t.Errorf("one of %d liars is believed: %v", n, got)
		}
		for _, m := range ms { // all others show the slanderer out
			w.Heard(m.ID, "b")
		}
		if got := w.Rations(ms); n > 2 && !slices.Equal(got, []Ration{{"b", Rate}}) {
			t.Errorf("of %d all but the slanderer speak of it: %v", n, got)
		}
	}
}

// TestInventedIDs has two ids of a liar say that they are of a cluster, beside one or two
// others of it that fetch, and speak of those. From one host they are one, whoever else is
// there, and may not outvote anybody; a third, elsewhere, has one word as well.
func TestInventedIDs(t *testing.T) {
	for honest := 1; honest <= 2; honest++ {
		for invented := 2; invented <= 8; invented++ {
			var w Words
			ms := cluster(honest + invented)
			for i := range ms {
				ms[i].Host = "10.0.0.1"
				if i < honest {
					ms[i].Host = "10.0.1." + string(ms[i].ID)
					continue
				}
				for k := range honest {
					w.Heard(ms[i].ID, ms[k].ID)
				}
			}
			if got := w.Rations(ms); got != nil {
				t.Errorf("%d ids of one host are believed, beside %d others: %v", invented, honest, got)
			}
			ms[honest].Host = "10.0.0.2"
			for k := range honest {
				w.Heard(ms[honest].ID, ms[k].ID)
			}
			if got := w.Rations(ms); len(got) != honest {
				t.Errorf("two hosts speak of %d others: %v", honest, got)
			}
		}
	}
}

// TestNobodyWaits: an outcast is slow for the sake of others of its cluster only.
func TestNobodyWaits(t *testing.T) {
	var w Words
	ms := cluster(4)
	for _, m := range ms[:3] {
		w.Heard(m.ID, "d")
	}
	if got := w.Rations(ms); !slices.Equal(got, []Ration{{"d", Rate}}) {
		t.Errorf("while others wait: %v", got)
	}
	for i := range ms[:3] {
		ms[i].Waits = false
	}
	if got := w.Rations(ms); !slices.Equal(got, []Ration{{"d", 0}}) {
		t.Errorf("when nobody else waits: %v", got)
	}
	ms[0].Waits = true
	if got := w.Rations(ms); !slices.Equal(got, []Ration{{"d", Rate}}) {
		t.Errorf("when one has come that waits: %v", got)
	}
}

// TestWordsAreBounded has one member tell of outcasts without end.
func TestWordsAreBounded(t *testing.T) {
	var w Words
	for i := range 10 * Most {
		w.Heard("a", proto.PeerID(fmt.Sprint("p", i)))
	}
	if n := len(w.shown["a"]); n != Most {
		t.Errorf("%d words are kept, want %d", n, Most)
	}
}
