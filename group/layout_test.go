package group

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

func ids(n int) (all []proto.PeerID) {
	for i := range n {
		all = append(all, proto.PeerID(fmt.Sprintf("%04d", i)))
	}
	return all
}

func TestCut(t *testing.T) {
	for _, tt := range []struct{ size, members, parts int }{
		{0, 4, 1}, {100, 4, 1}, {4095, 4, 1}, {8192, 4, 2}, {16384, 4, 4}, {1 << 20, 4, 16}, {100_000, 1, 2}, {100_000, 40, 8},
		{65536, 1, 1}, {65537, 1, 2}, {MaxMessage, 8, 16}, {3 << 18, 8, 12},
	} {
		b := bytes.Repeat([]byte("0123456789"), tt.size/10+1)[:tt.size]
		parts := cut(proto.Parcel{}, b, tt.members)
		shortest, longest := tt.size, 0
		var all []byte
		for _, p := range parts {
			shortest, longest = min(shortest, len(p.Payload)), max(longest, len(p.Payload))
			all = append(all, p.Payload...)
		}
		if len(parts) != tt.parts || longest-shortest > 1 || longest > proto.MaxParcel || !bytes.Equal(all, b) {
			t.Errorf("%d bytes for %d members: %d parts of %d to %d bytes, want %d parts", tt.size, tt.members, len(parts), shortest, longest, tt.parts)
		}
	}
}

// A part that enters a cluster at any of its first members reaches all of them, over sessions that both sides keep.
func TestForwardsReachTheCluster(t *testing.T) {
	for _, size := range []int{1, 2, 4, 127, 128, 129, 200, 500} {
		cluster := ids(size)
		sessions := map[proto.PeerID][]proto.PeerID{}
		for _, id := range cluster {
			sessions[id] = wanted(map[string][]proto.PeerID{"A": cluster}, "A", id)
		}
		for _, at := range []int{0, min(7, size-1)} {
			copies := map[proto.PeerID]int{cluster[at]: 1}
			forward := func(from proto.PeerID, relay bool) {
				for _, to := range forwards(cluster, from, "sender", relay) {
					if copies[to]++; !slices.Contains(sessions[from], to) && !slices.Contains(sessions[to], from) {
						t.Fatalf("cluster of %d: no session from %s to %s", size, from, to)
					}
				}
			}
			forward(cluster[at], true)
			for _, id := range cluster[:min(size, maxDense)] {
				if id != cluster[at] {
					forward(id, false)
				}
			}
			for rank, id := range cluster {
				if want := 1 + 3*min(rank/maxDense, 1); copies[id] != want {
					t.Errorf("cluster of %d: member %d has %d copies, want %d", size, rank, copies[id], want)
				}
			}
		}
	}
}

func TestWantedSessions(t *testing.T) {
	clusters := map[string][]proto.PeerID{"A": ids(4), "B": ids(20), "C": ids(3)}
	delete(clusters, "")
	got := wanted(clusters, "A", "0001")
	if len(got) != 3+8+3 {
		t.Errorf("%d sessions, want 14", len(got))
	}
	many := map[string][]proto.PeerID{}
	for i := range 60 {
		many[fmt.Sprint(i)] = ids(10)
	}
	if got := wanted(many, "3", "0001"); len(got) != maxSessions {
		t.Errorf("%d sessions, want %d", len(got), maxSessions)
	}
}
