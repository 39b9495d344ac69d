// Package pickertest is one conformance test for every [mob.Picker].
package pickertest

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// Subject is a picker to test, of a node that has nothing.
type Subject struct {
	mob.Picker
	// Right is the event that reports a number which has arrived and is not false.
	Right func(i int) mob.Event
	// Begin are events that come before others.
	Begin []mob.Event
	// Growing says that the content grows, see [mob.Config].
	Growing bool
	// Check returns what is inconsistent in the picker or in its State; nil checks nothing.
	Check func(s *mob.State) error
}

// Conformance checks the promises of a picker. newSubject returns a new Subject, with 32 to 256
// numbers.
func Conformance(t *testing.T, newSubject func() Subject) {
	for name, test := range map[string]func(*testing.T, *node){
		"gets all over the WAN":      func(t *testing.T, n *node) { getsAll(t, n, "A") },
		"gets all over the LAN":      func(t *testing.T, n *node) { getsAll(t, n, "B") },
		"requests what peers have":   requestsWhatPeersHave,
		"leaves claimed numbers":     leavesClaimed,
		"recovers from a failure":    recoversFromFailure,
		"recovers from a loss":       recoversFromLoss,
		"WAN pick does not allocate": func(t *testing.T, n *node) { picksWithoutAllocating(t, n, "A") },
		"LAN pick does not allocate": func(t *testing.T, n *node) { picksWithoutAllocating(t, n, "B") },
	} {
		t.Run(name, func(t *testing.T) { test(t, newNode(newSubject())) })
	}
}

// node is the node n of cluster B, and the shell around its State.
type node struct {
	Subject
	spy         *spy
	state       *mob.State
	now         time.Time
	outstanding []mob.Send    // requests
	arrived     map[int]int   // bytes of numbers that are on their way
	dropped     []proto.Range // numbers that were announced as dropped
	finished    bool
}

// spy passes calls on to a picker, and keeps what the State gave it.
type spy struct {
	mob.Picker
	control *mob.Control
	peer    *mob.Peer // of the last pick
}

func (k *spy) Attach(c *mob.Control) {
	k.control = c
	k.Picker.Attach(c)
}

func (k *spy) Pick(p *mob.Peer) int {
	k.peer = p
	return k.Picker.Pick(p)
}

func newNode(sub Subject) *node {
	n := &node{Subject: sub, spy: &spy{Picker: sub.Picker}, arrived: map[int]int{}, now: time.Unix(1e9, 0)}
	n.state = mob.New(mob.Config{Self: "n", Cluster: "B", Seed: 1, Tuning: mob.DefaultTuning(), Picker: n.spy, Growing: n.Growing}, nil)
	n.step(mob.Learned{})
	n.step(n.Begin...)
	return n
}

func (n *node) count() int { return n.spy.Layout().Count }

func (n *node) all() []proto.Range { return []proto.Range{{Count: uint32(n.count())}} }

// step takes in events, a millisecond apart.
func (n *node) step(evs ...mob.Event) {
	for _, ev := range evs {
		n.now = n.now.Add(time.Millisecond)
		for _, a := range n.state.Step(n.now, ev) {
			switch a := a.(type) {
			case mob.Send:
				n.sent(a)
			case mob.Finished:
				n.finished = true
			}
		}
	}
}

func (n *node) sent(a mob.Send) {
	switch m := a.Message.(type) {
	case *proto.Request:
		n.outstanding = append(n.outstanding, a)
	case *proto.Cancel:
		n.outstanding = slices.DeleteFunc(n.outstanding, func(o mob.Send) bool {
			return o.Peer == a.Peer && o.Message.(*proto.Request).Span == m.Span
		})
	case *proto.Have:
		n.dropped = append(n.dropped, m.Drop...)
	}
}

// joins has a peer join that has some numbers, and wants to hear of all.
func (n *node) joins(id proto.PeerID, cluster string, have *proto.Have) {
	n.step(mob.Joined{Node: mob.Node{ID: id, Cluster: cluster}},
		mob.Received{Peer: id, Message: &proto.Want{Pieces: n.all()}}, mob.Received{Peer: id, Message: have})
}

// arrive answers requests, the oldest first, until a number has arrived, and returns that. It is
// -1 if nothing is requested.
func (n *node) arrive() int {
	for len(n.outstanding) > 0 {
		a := n.outstanding[0]
		n.outstanding = n.outstanding[1:]
		sp := a.Message.(*proto.Request).Span
		i := int(sp.Piece)
		n.arrived[i] += int(sp.Length)
		n.step(mob.Arrived{Peer: a.Peer, Span: sp})
		if layout := n.spy.Layout(); n.arrived[i] == layout.SizeOf(i) {
			delete(n.arrived, i)
			return i
		}
	}
	return -1
}

// wait lets time pass.
func (n *node) wait(d time.Duration) {
	for end := n.now.Add(d); n.now.Before(end); {
		n.now = n.now.Add(min(n.state.Wake(), end.Sub(n.now)))
		n.step(mob.Tick{})
	}
}

// getsAll has a peer of a cluster that has all numbers, and wants each requested at most once.
func getsAll(t *testing.T, n *node, cluster string) {
	n.joins("p", cluster, &proto.Have{Have: n.all()})
	seen := map[int]bool{}
	n.finish(t, func(i int) {
		if seen[i] || n.spy.control.Stored.Have.Has(i) {
			t.Fatalf("number %d was requested twice", i)
		}
		seen[i] = true
	})
}

// finish has all requests answered until everything is stored.
func (n *node) finish(t *testing.T, arrived func(i int)) {
	t.Helper()
	for range 10 * n.count() {
		i := n.arrive()
		if n.isDone() {
			break
		}
		if i < 0 {
			n.wait(time.Second)
			continue
		}
		arrived(i)
		n.step(n.Right(i))
	}
	if st := n.state.Status(); !n.isDone() || st.Have < st.Total || n.spy.control.Wanted.Len() > 0 {
		t.Errorf("not everything is stored: %+v", st)
	}
}

// isDone reports whether everything is stored.
func (n *node) isDone() bool {
	return n.finished || n.Growing && n.spy.control.Stored.Have.Count(0, n.count()) == n.count()
}

// requestsWhatPeersHave has two peers that have different numbers.
func requestsWhatPeersHave(t *testing.T, n *node) {
	has := map[proto.PeerID]proto.Range{"p": {First: 3, Count: 5}, "q": {First: 10, Count: 2}}
	for id, r := range has {
		n.joins(id, "A", &proto.Have{Have: []proto.Range{r}})
	}
	n.wait(time.Second)
	if len(n.outstanding) == 0 {
		t.Fatal("nothing is requested")
	}
	for _, a := range n.outstanding {
		if i, r := a.Message.(*proto.Request).Piece, has[a.Peer]; i < r.First || uint64(i) >= r.End() {
			t.Errorf("number %d is requested of %s", i, a.Peer)
		}
	}
}

// leavesClaimed has a member of the cluster claim what a peer of another has, and then drop it.
func leavesClaimed(t *testing.T, n *node) {
	n.joins("m", "B", &proto.Have{Claim: n.all()})
	n.joins("p", "A", &proto.Have{Have: n.all()})
	n.wait(time.Second)
	if len(n.outstanding) > 0 {
		t.Fatalf("%d requests for what is claimed", len(n.outstanding))
	}
	n.step(mob.Received{Peer: "m", Message: &proto.Have{Drop: n.all()}})
	n.wait(time.Second)
	if len(n.outstanding) == 0 {
		t.Error("nothing is requested when it is free")
	}
}

// recoversFromFailure has two peers. What the first sent was false.
func recoversFromFailure(t *testing.T, n *node) {
	n.joins("p", "A", &proto.Have{Have: n.all()})
	n.joins("q", "A", &proto.Have{Have: n.all()})
	from := n.outstanding[0].Peer
	i := n.arrive()
	n.step(mob.Failed{Piece: i, Sources: []proto.PeerID{from}})
	n.finish(t, func(int) {})
}

// recoversFromLoss has a number arrive, and then turn out to be damaged. All peers are told.
func recoversFromLoss(t *testing.T, n *node) {
	n.joins("p", "A", &proto.Have{Have: n.all()})
	n.joins("q", "A", &proto.Have{Have: n.all()})
	i := n.arrive()
	n.step(n.Right(i), mob.Lost{Piece: i})
	n.wait(time.Second)
	if !slices.ContainsFunc(n.dropped, func(r proto.Range) bool { return int(r.First) <= i && uint64(i) < r.End() }) {
		t.Errorf("nobody was told that number %d is lost", i)
	}
	n.finish(t, func(int) {})
}

// picksWithoutAllocating picks of a peer of a cluster.
func picksWithoutAllocating(t *testing.T, n *node, cluster string) {
	n.joins("p", cluster, &proto.Have{Have: n.all()})
	if n.spy.Picker.Pick(n.spy.peer) < 0 {
		t.Error("nothing is picked")
	}
	if allocs := testing.AllocsPerRun(100, func() { n.spy.Picker.Pick(n.spy.peer) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
