package collective

import (
	"testing"
	"time"

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

// Members with lower peer ids cannot be reached, as after a crash of their hosts: this member does not try them in turns.
func TestUnreachableMembersAreNotTriedInTurns(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	for _, tt := range []struct {
		name        string
		unreachable map[libpeer.ID]time.Time
		want        libpeer.ID
	}{
		{"none", nil, "a"},
		{"the first", map[libpeer.ID]time.Time{"a": ago(time.Millisecond)}, "b"},
		{"both", map[libpeer.ID]time.Time{"a": ago(joinTimeout + time.Second), "b": ago(time.Second)}, "c"},
		{"both, for twice the time", map[libpeer.ID]time.Time{"a": ago(2*joinTimeout + time.Second), "b": ago(joinTimeout + time.Second)}, "a"},
	} {
		j := &joining{self: entry{ID: "d"}, unreachable: tt.unreachable}
		if got := j.lowest([]group.Member{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "e"}}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The coordinator gives a roster up after rosterTimeout, as when a member of it has crashed: another member does not reject the node
// that takes the place of that one.
func TestOverdueRosterIsNotFull(t *testing.T) {
	r := newRoster([]entry{{ID: "b", Cluster: "A"}, {ID: "c", Cluster: "A"}})
	j := &joining{self: entry{ID: "c"}, size: 2, joined: map[libpeer.ID]uint64{}}
	j.accept(r, 1, "b")
	j.since = time.Now().Add(-rosterTimeout - time.Second)
	h := header{Kind: kindJoin, Run: 7, Total: 4}
	_, err := j.handle(t.Context(), group.Message{From: "a", Bytes: h.append([]byte{0, 0, 0, 2})})
	if err != nil || j.joined["a"] != 7 {
		t.Errorf("joins %v, %v", j.joined, err)
	}
}

// The coordinator was stopped since it sent the roster. The last member has accepted that, and gives it up.
func TestOverdueRosterIsNotStarted(t *testing.T) {
	r := newRoster([]entry{{ID: "b", Cluster: "A"}, {ID: "c", Cluster: "A"}})
	j := &joining{self: entry{ID: "b"}, size: 2}
	j.accept(r, 1, "b")
	j.accepted, j.since = map[libpeer.ID]bool{}, time.Now().Add(-startTimeout)
	h := header{Kind: kindAccept, Run: 1}
	if started, err := j.handle(t.Context(), group.Message{From: "c", Bytes: h.append(nil)}); started || err != nil {
		t.Errorf("started %t, %v", started, err)
	}
}
