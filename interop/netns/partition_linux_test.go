package netns

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// reaches reports whether datagrams from one node arrive at another, within a minute: a busy machine takes time.
func reaches(t *testing.T, from, to *Node) bool {
	t.Helper()
	return eventually(func() bool { return arrives(t, from, to) })
}

// arrives reports whether a datagram from one node arrives at another in 300 ms.
func arrives(t *testing.T, from, to *Node) bool {
	t.Helper()
	var in, out net.PacketConn
	listen := func(n *Node, c *net.PacketConn) {
		err := n.Do(func() (err error) {
			*c, err = net.ListenPacket("udp4", n.IP.String()+":0")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listen(to, &in)
	defer in.Close()
	listen(from, &out)
	defer out.Close()
	if _, err := out.WriteTo([]byte("x"), in.LocalAddr()); err != nil {
		t.Logf("from %s%d to %s%d: %v", from.Cluster, from.Index, to.Cluster, to.Index, err)
		return false
	}
	if err := in.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, _, err := in.ReadFrom(make([]byte, 1))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil
}

func TestBlockIsOneWay(t *testing.T) {
	t.Parallel()
	g := newGrid(t, Config{Clusters: Clusters(1, 1, 1), Links: Uniform(20*MBps, "A", "B", "C")})
	a, b, c := g.Node("A", 0), g.Node("B", 0), g.Node("C", 0)
	if err := g.Block("A", "B"); err != nil {
		t.Fatal(err)
	}
	if arrives(t, a, b) {
		t.Error("a packet passes a blocked link")
	}
	if !reaches(t, b, a) || !reaches(t, a, c) || !reaches(t, c, b) {
		t.Error("another direction is blocked too")
	}
	if err := g.Unblock("A", "B"); err != nil {
		t.Fatal(err)
	}
	if !reaches(t, a, b) {
		t.Error("the link stays blocked")
	}
	for _, pair := range [][2]string{{"A", "D"}, {"D", "A"}, {"A", "A"}} {
		if g.Block(pair[0], pair[1]) == nil {
			t.Errorf("blocked %v", pair)
		}
	}
}

func TestUnplug(t *testing.T) {
	t.Parallel()
	g := newGrid(t, Config{Clusters: Clusters(3, 1), Links: Uniform(20*MBps, "A", "B")})
	n := g.Node("A", 1)
	if err := n.Unplug(); err != nil {
		t.Fatal(err)
	}
	for _, other := range []*Node{g.Node("A", 0), g.Node("B", 0)} {
		if arrives(t, n, other) || arrives(t, other, n) {
			t.Errorf("an unplugged node reaches %s%d, or the other way round", other.Cluster, other.Index)
		}
	}
	if !reaches(t, g.Node("A", 0), g.Node("A", 2)) {
		t.Error("other nodes are unplugged too")
	}
	if err := n.Plug(); err != nil {
		t.Fatal(err)
	}
	if !reaches(t, n, g.Node("B", 0)) {
		t.Error("the node stays unplugged")
	}
}
