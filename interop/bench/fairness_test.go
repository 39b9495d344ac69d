package bench

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// A flow of another program keeps its part of a far link beside a swarm that has two nodes at each
// end: on a link that loses nothing mob has no reason to displace other traffic.
func TestFlowBesideSwarm(t *testing.T) {
	t.Parallel()
	needsGrid(t)
	const rate, during = 6 * netns.MBps, 8 * time.Second
	links := netns.Uniform(rate, "A", "B")
	grid := newGrid(t, netns.Config{Clusters: netns.Clusters(3, 3), Links: links, RTT: 30 * time.Millisecond})
	f := &Fleet{Grid: grid, Bin: bin(t), Dir: t.TempDir()}
	f.startTracker(t, grid.Node("A", 0))
	source := f.startDaemon(t, grid.Node("A", 0))
	sinks := []*Daemon{f.startDaemon(t, grid.Node("A", 1)), f.startDaemon(t, grid.Node("B", 0)), f.startDaemon(t, grid.Node("B", 1))}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	link := source.mustSeed(t, 200e6) // more than the link carries in the test
	flow := flowBetween(t, grid.Node("A", 2), grid.Node("B", 2))
	getting, stop := context.WithCancel(ctx)
	defer stop()
	for _, d := range sinks {
		go func() { _ = d.Get(getting, link) }() // ends with the test
	}
	sinks[1].awaitHave(t, 1)
	time.Sleep(8 * time.Second) // both have settled
	machine := busyShare(t)
	counts := func() (flowed uint64, all float64) {
		n, err := grid.WANBytes("B")
		if err != nil {
			t.Fatal(err)
		}
		return flow.Load(), float64(n)
	}
	before, allBefore := counts()
	time.Sleep(during)
	after, allAfter := counts()
	share := float64(after-before) / (netns.TCPShare * (allAfter - allBefore))
	t.Logf("the flow has %.2f of what the link carries, the link is used to %.2f", share, (allAfter-allBefore)/during.Seconds()/float64(rate))
	if share < 0.4 && machine() < fullyBusy {
		t.Errorf("the flow has %.2f of what the link carries, want at least 0.40", share)
	}
	if share > 0.97 {
		t.Errorf("the flow has %.2f of what the link carries: the swarm sends nothing", share)
	}
}

// flowBetween sends as fast as one connection can, until the test ends, and counts what arrives.
func flowBetween(t *testing.T, from, to *netns.Node) *atomic.Uint64 {
	t.Helper()
	var l net.Listener
	err := to.Do(func() (err error) {
		l, err = net.Listen("tcp4", to.IP.String()+":0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var client net.Conn
	err = from.Do(func() (err error) {
		client, err = net.DialTimeout("tcp4", l.Addr().String(), 5*time.Second)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		zeros := make([]byte, 256<<10)
		for {
			if _, err := client.Write(zeros); err != nil {
				return
			}
		}
	}()
	arrived := new(atomic.Uint64)
	go func() { _, _ = io.Copy(counter{arrived}, server) }()
	return arrived
}

// counter counts what is written to it.
type counter struct{ n *atomic.Uint64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(uint64(len(p)))
	return len(p), nil
}
