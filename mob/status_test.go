package mob

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestDoneAfterWant: a peer of the site counts as one that fetches nothing more once it has sent an empty Want, not once the
// node has sent it a message.
func TestDoneAfterWant(t *testing.T) {
	t.Parallel()
	s := newWitness("n", "B")
	s.hears(Learned{}, Stored{Piece: 0}, Joined{Node: Node{ID: "c", Cluster: "B"}}, Lost{Piece: 0}, Tick{}, Tick{})
	if s.Status().Peers[0].Done {
		t.Error("a peer that has sent nothing counts as done")
	}
	s.hears(Received{"c", &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
	if s.Status().Peers[0].Done {
		t.Error("a peer that is subscribed to each piece counts as done")
	}
	s.hears(Received{"c", &proto.Want{}})
	if !s.Status().Peers[0].Done {
		t.Error("a peer that is subscribed to nothing does not count as done")
	}
}
