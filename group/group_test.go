package group_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/group"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

func join(t testing.TB, nodes []*peer.Node) []*group.Group {
	t.Helper()
	var groups []*group.Group
	for _, n := range nodes {
		g, err := group.Join(t.Context(), n, group.Config{Key: [32]byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Close)
		groups = append(groups, g)
	}
	for _, g := range groups {
		awaitSessions(t, g, len(nodes)-1)
	}
	return groups
}

// awaitSessions waits until a member has sessions with at least n members.
func awaitSessions(t testing.TB, g *group.Group, n int) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		have := 0
		for _, m := range g.Members() {
			if m.RTT > 0 {
				have++
			}
		}
		if have >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d sessions, want %d", have, n)
		}
	}
}

func receive(t *testing.T, g *group.Group) group.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	m, err := g.Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCastReachesEachMemberOnceInOrder(t *testing.T) {
	nodes := peertest.Clusters(t, 3, 3)
	groups := join(t, nodes)
	sizes := []int{0, 1, 5000, 100_000, 200_000, 8192, 3}
	message := func(from, i int) []byte {
		return bytes.Repeat([]byte(fmt.Sprintf("%d %d;", from, i)), sizes[i]/4+1)[:sizes[i]]
	}
	for from, g := range groups {
		go func() {
			for i := range sizes {
				if err := g.Cast(t.Context(), message(from, i)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for at, g := range groups {
		next := make([]int, len(nodes))
		for range (len(nodes) - 1) * len(sizes) {
			m := receive(t, g)
			from := slices.IndexFunc(nodes, func(n *peer.Node) bool { return n.Host().ID() == m.From })
			if i := next[from]; i >= len(sizes) || !bytes.Equal(m.Bytes, message(from, i)) {
				t.Fatalf("member %d: message %d of %d has %d bytes", at, i, from, len(m.Bytes))
			}
			next[from]++
		}
	}
}

// A caller may change the bytes of a message after Drain: a data race otherwise.
func TestDrainedMessageMayChange(t *testing.T) {
	nodes := peertest.Clusters(t, 1, 2)
	groups := join(t, nodes)
	b := make([]byte, 50_000)
	for i := range 50 {
		clear(b)
		if err := groups[0].Send(t.Context(), nodes[1].Host().ID(), b); err != nil {
			t.Fatal(err)
		}
		if err := groups[0].Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		b[0] = 1
		if m := receive(t, groups[1]); len(m.Bytes) != len(b) || m.Bytes[0] != 0 {
			t.Fatalf("message %d: %d bytes, the first is %d", i, len(m.Bytes), m.Bytes[0])
		}
	}
}

func TestSendReachesOneMember(t *testing.T) {
	nodes := peertest.Clusters(t, 2, 2)
	groups := join(t, nodes)
	const count = 40
	go func() {
		for i := range count {
			if err := groups[0].Send(t.Context(), nodes[3].Host().ID(), bytes.Repeat([]byte{byte(i)}, 300_000)); err != nil {
				t.Error(err)
			}
		}
	}()
	for i := range count {
		m := receive(t, groups[3])
		if m.From != nodes[0].Host().ID() || len(m.Bytes) != 300_000 || m.Bytes[0] != byte(i) {
			t.Fatalf("message %d: %d bytes from %s", i, len(m.Bytes), m.From)
		}
	}
	if err := groups[0].Send(t.Context(), nodes[0].Host().ID(), nil); err == nil {
		t.Error("sent to itself")
	}
	long := bytes.Repeat([]byte("long"), group.MaxMessage/4)
	if err := groups[0].Cast(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	if m := receive(t, groups[2]); !bytes.Equal(m.Bytes, long) {
		t.Errorf("%d bytes", len(m.Bytes))
	}
	if err := groups[0].Cast(t.Context(), append(long, 1)); err == nil {
		t.Error("a message longer than 1 MiB was sent")
	}
}
