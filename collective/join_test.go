package collective

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// scripted is a member of a collective group whose messages a test writes.
type scripted struct {
	t *testing.T
	g *group.Group
}

func script(t *testing.T, n *peer.Node, name string) *scripted {
	t.Helper()
	g, err := group.Join(t.Context(), n, group.Config{Key: sha256.Sum256([]byte("mob-collective:" + name))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return &scripted{t, g}
}

// admit sends the roster of a run with the member that joins, waits until it accepts that, and returns its first message.
func (s *scripted) admit() frame {
	s.t.Helper()
	from, f := s.expect(kindJoin)
	s.cast(header{Kind: kindRoster, Run: 1}, s.roster(from, f.Run))
	s.expect(kindAccept)
	return f
}

// expect returns the next message of a kind.
func (s *scripted) expect(k kind) (libpeer.ID, frame) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), peertest.WaitTimeout)
	defer cancel()
	for {
		m, err := s.g.Receive(ctx)
		if err != nil {
			s.t.Fatalf("message of kind %d: %v", k, err)
		}
		if f, err := parse(m.Bytes); err == nil && f.Kind == k {
			return m.From, f
		}
	}
}

func (s *scripted) cast(h header, data []byte) {
	s.t.Helper()
	h.Total = uint32(len(data))
	if err := s.g.Cast(s.t.Context(), h.append(data)); err != nil {
		s.t.Fatal(err)
	}
}

// roster returns an encoded roster of the scripted member and another one with its call of Join.
func (s *scripted) roster(other libpeer.ID, call uint64) []byte {
	s.t.Helper()
	n := s.g.Node()
	b, err := proto.EncodeCBOR(newRoster([]entry{
		{ID: proto.PeerID(n.Host().ID()), Cluster: n.Cluster()}, {ID: proto.PeerID(other), Cluster: n.Cluster(), Call: call},
	}))
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// joined has the results of Join.
type joined struct {
	c   *Comm
	err error
}

func joinLater(ctx context.Context, n *peer.Node, name string, size int) <-chan joined {
	all := make(chan joined, 1)
	go func() {
		c, err := Join(ctx, n, name, size)
		all <- joined{c, err}
	}()
	return all
}

func (j joined) wantError(t *testing.T, text string) {
	t.Helper()
	err := j.err
	if err == nil {
		_, err = j.c.AllReduce(t.Context(), nil, SumInt64)
	}
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %q", err, text)
	}
}

func TestJoinEndsWithNode(t *testing.T) {
	n := peertest.Clusters(t, 1, 1)[0]
	ended := joinLater(t.Context(), n, "closed", 2)
	time.Sleep(10 * joinEvery) // in Join
	_ = n.Close()
	(<-ended).wantError(t, "closed")
}

// The node of a member closes: another one gets ErrMember, and not an error of that node.
func TestClosedNodeIsLostMember(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	s := script(t, nodes[0], "node")
	ended := joinLater(t.Context(), nodes[1], "node", 2)
	s.admit()
	s.cast(header{Kind: kindStart, Run: 1}, nil)
	j := <-ended
	if j.err != nil {
		t.Fatal(j.err)
	}
	j.c.fail(group.ErrClosed)
	if _, f := s.expect(kindAbort); f.Index != uint32(j.c.rank) {
		t.Errorf("%+v", f)
	}
}

// The run fails before the message arrives that it has started.
func TestAbortBeforeStart(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	s := script(t, nodes[0], "abort")
	ended := joinLater(t.Context(), nodes[1], "abort", 2)
	s.admit()
	s.cast(header{Kind: kindAbort, Run: 1, Index: noRank}, []byte("no room"))
	(<-ended).wantError(t, "no room")
}

// A member that sends what this version does not know would be waited for without end.
func TestMessageOfAnotherVersionFails(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	s := script(t, nodes[0], "version")
	ended := joinLater(t.Context(), nodes[1], "version", 2)
	s.admit()
	s.cast(header{Kind: kindStart, Run: 1}, nil)
	s.cast(header{Kind: kindFetched + 1, Run: 1, Op: 1}, nil)
	(<-ended).wantError(t, "another version")
}

// The coordinator has started, and a member does not learn that: the new number of its join ends the run.
func TestMemberThatGivesRosterUpHasNewCall(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	s := script(t, nodes[0], "late")
	ended := joinLater(t.Context(), nodes[1], "late", 2)
	first := s.admit()
	_, second := s.expect(kindJoin)
	if second.Run == first.Run {
		t.Error("the second join has the number of the first one")
	}
	s.cast(header{Kind: kindFull}, []byte("no room"))
	(<-ended).wantError(t, "no room")
}

// aloneAndScript returns the member of a group of one, and a script that the member has a session with.
func aloneAndScript(t *testing.T) (*Comm, *scripted) {
	t.Helper()
	nodes := peertest.Clusters(t, 1, 2)
	first := <-joinLater(t.Context(), nodes[0], "second", 1)
	if first.err != nil {
		t.Fatal(first.err)
	}
	t.Cleanup(first.c.Close)
	s := script(t, nodes[1], "second")
	for len(s.g.Members()) == 0 || s.g.Members()[0].RTT == 0 {
		time.Sleep(time.Millisecond)
	}
	return first.c, s
}

func TestRosterOfSecondGroupRejected(t *testing.T) {
	_, s := aloneAndScript(t)
	s.cast(header{Kind: kindRoster, Run: 1}, s.roster("another", 2))
	if _, f := s.expect(kindFull); f.Run != 1 || string(f.data) != errFull.Error() {
		t.Errorf("%+v", f)
	}
}

// TestRejectionsBounded sends a member rosters of many second groups while it rejects another one. It ignores them.
func TestRejectionsBounded(t *testing.T) {
	c, s := aloneAndScript(t)
	c.rejecting.Lock()
	for range 100 {
		s.cast(header{Kind: kindRoster, Run: 1}, nil)
	}
	s.cast(header{Kind: kindJoin, Run: 2}, nil)
	if _, f := s.expect(kindFull); f.Run != 2 {
		t.Errorf("the rejection of run %d is first", f.Run)
	}
	c.rejecting.Unlock()
	s.cast(header{Kind: kindRoster, Run: 3}, nil)
	if _, f := s.expect(kindFull); f.Run != 3 {
		t.Errorf("run %d is rejected", f.Run)
	}
}

// Two nodes with the lowest peer ids join a group that is complete: as a second group, or too few for one.
func TestSecondGroupOfSameNameFails(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 5)
	slices.SortFunc(nodes, func(a, b *peer.Node) int { return strings.Compare(string(a.Host().ID()), string(b.Host().ID())) })
	for size := 2; size <= 3; size++ {
		var members, extra []<-chan joined
		for _, n := range nodes[2 : 2+size] {
			members = append(members, joinLater(t.Context(), n, "same", size))
		}
		var all []*Comm
		for _, m := range members {
			j := <-m
			if j.err != nil {
				t.Fatal(j.err)
			}
			all = append(all, j.c)
		}
		for _, n := range nodes[:2] {
			extra = append(extra, joinLater(t.Context(), n, "same", size))
		}
		for _, e := range extra {
			(<-e).wantError(t, errFull.Error())
		}
		ended := make(chan error)
		for _, c := range all {
			go func() {
				_, err := c.AllReduce(t.Context(), nil, SumInt64)
				c.Close()
				ended <- err
			}()
		}
		for range all {
			if err := <-ended; err != nil {
				t.Errorf("the first group: %v", err)
			}
		}
	}
}

// Two members wait for each other when one with another size joins: all fail, in whatever order their peer ids are.
func TestWrongSizeFailsAllMembers(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 3)
	for odd := range nodes {
		var all []<-chan joined
		name := fmt.Sprint("sizes ", odd)
		rest := slices.Delete(slices.Clone(nodes), odd, odd+1)
		for _, n := range rest {
			all = append(all, joinLater(t.Context(), n, name, 3))
		}
		for !inSession(rest[0], rest[1], name) || !inSession(rest[1], rest[0], name) {
			time.Sleep(time.Millisecond)
		}
		all = append(all, joinLater(t.Context(), nodes[odd], name, 2))
		for _, ended := range all {
			(<-ended).wantError(t, "members, not")
		}
	}
}

// TestRejectionOfAllIsRepeated checks that a member sends the reason why all joins fail on: its sender may not know all members.
func TestRejectionOfAllIsRepeated(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	s := script(t, nodes[0], "repeated")
	ended := joinLater(t.Context(), nodes[1], "repeated", 3)
	s.expect(kindJoin)
	s.cast(header{Kind: kindFull}, []byte("wrong size"))
	if _, f := s.expect(kindFull); f.Run != 0 || string(f.data) != "wrong size" {
		t.Errorf("%+v", f)
	}
	(<-ended).wantError(t, "wrong size")
}

// inSession reports whether a node keeps its connection to another one for a group with this name.
func inSession(n, other *peer.Node, name string) bool {
	key := sha256.Sum256([]byte("mob-collective:" + name))
	return n.Host().ConnManager().IsProtected(other.Host().ID(), "group "+string(key[:8]))
}
