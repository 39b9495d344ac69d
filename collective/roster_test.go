package collective

import (
	"testing"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/proto"
)

func TestSessionInEachClusterOfRoster(t *testing.T) {
	r := newRoster([]entry{{ID: "a", Cluster: "A"}, {ID: "b", Cluster: "A"}, {ID: "c", Cluster: "B"}, {ID: "d", Cluster: "B"}})
	for _, tt := range []struct {
		self     proto.PeerID
		sessions []libpeer.ID
		want     bool
	}{
		{"a", []libpeer.ID{"b", "d"}, true},
		{"a", []libpeer.ID{"b"}, false},
		{"a", []libpeer.ID{"c", "d"}, false},
		{"a", []libpeer.ID{"b", "x"}, false}, // x is not in the roster
	} {
		members := []group.Member{{ID: "c", Cluster: "B"}} // without a session
		for _, id := range tt.sessions {
			cluster := "B"
			if id < "c" {
				cluster = "A"
			}
			members = append(members, group.Member{ID: id, Cluster: cluster, RTT: 1})
		}
		if got := r.reached(tt.self, members); got != tt.want {
			t.Errorf("%s with sessions to %s: %t", tt.self, tt.sessions, got)
		}
	}
}
