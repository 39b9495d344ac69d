package roster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/timer"
	"github.com/mobgrid/mob/proto"
)

// newRoster returns the roster of node b of cluster B.
func newRoster() *Roster {
	set := &Settings{
		Turn: 20 * time.Millisecond, Settle: 3 * time.Second, Calm: 20 * time.Millisecond, Retry: time.Second,
		MaxRetry: 30 * time.Second, MaxLocal: 128, MaxGlobal: 128,
	}
	work := assign.Follow(nil, "")
	rules := &conduct.Rules{Stall: 3 * time.Second}
	r := New(Member{ID: "b", Cluster: "B"}, set, rules, work, rand.New(rand.NewPCG(1, 1)), new(timer.Table), 1<<20, func(rank, size int) assign.Share {
		return assign.Ranges(64, rank, size)
	})
	work.Start(64, []string{"B"}, rules, new(conduct.Book), nil)
	r.Now = time.Unix(1, 0)
	r.Start()
	return r
}

// join opens a session with a member.
func (r *Roster) join(m Member) *Node {
	n, clusters := r.Met(m)
	r.Joined(n, "")
	r.Rerank(clusters...)
	return n
}

func (r *Roster) dials() (ids []proto.PeerID) {
	for _, c := range r.Changes() {
		if c.Kind == Dial {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// TestMembersBounded checks that a node which knows as many members as it may forgets further ones when they leave.
func TestMembersBounded(t *testing.T) {
	r := newRoster()
	members := make([]Member, maxNodes)
	for i := range members {
		members[i] = Member{ID: proto.PeerID(fmt.Sprintf("m%05d", i)), Cluster: "C"}
	}
	r.Learned(members, true)
	for k := range 100 {
		m := Member{ID: proto.PeerID(fmt.Sprint("n", k)), Cluster: "D"}
		r.Left(r.join(m), false)
		r.Changes()
	}
	if n := len(r.byID); n != maxNodes {
		t.Errorf("%d members are known, want %d", n, maxNodes)
	}
}

// TestCandidatesBounded checks the numbers of candidates and of their dials, and that they are forgotten when they fail or join.
func TestCandidatesBounded(t *testing.T) {
	r := newRoster()
	members := make([]Member, 2*maxCandidates)
	for i := range members {
		members[i] = Member{ID: proto.PeerID(fmt.Sprintf("m%05d", i)), Cluster: "B"}
	}
	r.Named(members)
	dialed := r.dials()
	if len(dialed) != maxTrials || len(r.candidates.byID) != maxCandidates || r.Groups[0].Size != 1 {
		t.Errorf("%d candidates, %d dialed, %d members", len(r.candidates.byID), len(dialed), r.Groups[0].Size)
	}
	r.Unreachable(dialed[0])
	if next := r.dials(); len(next) != 1 {
		t.Errorf("%d dialed after one has failed", len(next))
	}
	r.join(Member{ID: dialed[1], Cluster: "B"})
	if len(r.candidates.byID) != maxCandidates-2 || r.candidates.trials != maxTrials-1 || r.Groups[0].Size != 2 {
		t.Errorf("%d candidates, %d trials, %d members", len(r.candidates.byID), r.candidates.trials, r.Groups[0].Size)
	}
}

// TestExternalPeersForgotten checks that nothing is left of external peers, or of a member's earlier clusters.
func TestExternalPeersForgotten(t *testing.T) {
	r := newRoster()
	for k := range 50 {
		id := proto.PeerID(fmt.Sprint("external", k))
		r.Left(r.join(Member{ID: id, Cluster: string(id), External: true}), k%2 > 0)
		r.Left(r.join(Member{ID: "eve", Cluster: fmt.Sprint("name", k)}), false)
	}
	if g := r.Groups[0]; len(r.byID) != 1 || len(g.nodes) != 1 || len(g.Siblings) != 1 || r.joined != 0 {
		t.Errorf("left are %d nodes in %d groups, %d siblings, %d sessions", len(r.byID), len(g.nodes), len(g.Siblings), r.joined)
	}
}
