package tracker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// loopHost is a host that listens on loopback, until the end of the test.
func loopHost(t testing.TB) host.Host {
	t.Helper()
	h, err := newHost([]multiaddr.Multiaddr{multiaddr.StringCast("/ip4/127.0.0.1/tcp/0")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// clock is a virtual time, which only add advances.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time      { return epoch.Add(time.Duration(c.passed.Load())) }
func (c *clock) add(d time.Duration) { c.passed.Add(int64(d)) }

// start starts a tracker, until the end of the test.
func start(t testing.TB, cfg Config, c *clock) (*Server, peer.AddrInfo) {
	t.Helper()
	h := loopHost(t)
	s := newServer(h, cfg, c.now)
	t.Cleanup(func() { s.Close() })
	return s, *host.InfoFromHost(h)
}

// size counts the swarms and the members that s knows now.
func size(s *Server) (swarms, members int) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.state.table.size(s.clock())
}

// node is a member's host with a client of the given trackers. By default it waits for each of them.
func node(t testing.TB, cfg ClientConfig, trackers ...peer.AddrInfo) (host.Host, *Client) {
	t.Helper()
	cfg.Timeout, cfg.Grace = cmp.Or(cfg.Timeout, waitTimeout), cmp.Or(cfg.Grace, waitTimeout)
	h := loopHost(t)
	c := NewClient(h, trackers, cfg)
	t.Cleanup(func() { c.Close() })
	return h, c
}

func announce(h host.Host, cluster string, have uint32) *proto.Announce {
	a := &proto.Announce{Swarm: []byte("swarm"), Cluster: cluster, Have: have, Total: 10}
	for _, addr := range h.Addrs() {
		a.Addrs = append(a.Addrs, addr.Bytes())
	}
	return a
}

func TestSixteenNodesInFourClusters(t *testing.T) {
	t.Parallel()
	s, info := start(t, Default(nil), new(clock))
	hosts, clients := make([]host.Host, 16), make([]*Client, 16)
	for i := range hosts {
		hosts[i], clients[i] = node(t, ClientConfig{}, info)
	}
	cluster := func(i int) string { return string(rune('A' + i%4)) }
	var wg sync.WaitGroup
	for range 2 { // at the second announce all members are known
		for i, c := range clients {
			wg.Go(func() {
				if _, err := c.Announce(t.Context(), announce(hosts[i], cluster(i), uint32(i)%11)); err != nil {
					t.Errorf("node %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	}
	for i, c := range clients {
		h, err := c.Announce(t.Context(), announce(hosts[i], cluster(i), uint32(i)%11))
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Members) != 15 {
			t.Errorf("node %d: a reply of %d members, want 15", i, len(h.Members))
		}
		if h.Interval < 9 || h.Interval > 11 {
			t.Errorf("interval %d s in a young swarm, want about 10", h.Interval)
		}
		for _, m := range h.Members {
			j := slices.IndexFunc(hosts, func(h host.Host) bool { return h.ID() == peer.ID(m.ID) })
			if j < 0 || j == i || m.Cluster != cluster(j) || !bytes.Equal(m.Addrs[0], hosts[j].Addrs()[0].Bytes()) {
				t.Errorf("node %d: the reply has %+v", i, m)
			}
		}
	}
	f, err := clients[0].Scrape(t.Context(), []byte("swarm"))
	if err != nil {
		t.Fatal(err)
	}
	want := "[{A 4 0 27} {B 4 0 23} {C 4 1 19} {D 4 0 26}]"
	var got []string
	for _, c := range f.Clusters {
		got = append(got, fmt.Sprintf("{%s %d %d %d}", c.Name, c.Nodes, c.Whole, c.Missing))
	}
	if fmt.Sprint(got) != want {
		t.Errorf("scrape %v, want %s", got, want)
	}
	if swarms, members := size(s); swarms != 1 || members != 16 {
		t.Errorf("%d members in %d swarms", members, swarms)
	}
}

func TestMembersExpireAndLeave(t *testing.T) {
	t.Parallel()
	clk := new(clock)
	s, info := start(t, Default(nil), clk)
	h1, c1 := node(t, ClientConfig{}, info)
	h2, c2 := node(t, ClientConfig{}, info)
	h3, c3 := node(t, ClientConfig{}, info)
	must := func(c *Client, a *proto.Announce, want int) *proto.AnnounceReply {
		t.Helper()
		h, err := c.Announce(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Members) != want {
			t.Fatalf("a reply of %d members, want %d", len(h.Members), want)
		}
		return h
	}
	must(c1, announce(h1, "A", 0), 0)
	must(c2, announce(h2, "A", 0), 1)
	must(c3, announce(h3, "B", 0), 2)

	leave := announce(h2, "A", 0)
	leave.Leaving = true
	must(c2, leave, 0)
	must(c1, announce(h1, "A", 0), 1)
	must(c2, leave, 0) // again, without effect

	clk.add(60 * time.Second)
	must(c1, announce(h1, "A", 0), 1)
	clk.add(30 * time.Second) // the third is silent for 90 s
	must(c1, announce(h1, "A", 0), 0)
	clk.add(40 * time.Second)
	if h := must(c1, announce(h1, "A", 0), 0); h.Interval < 27 || h.Interval > 33 {
		t.Errorf("interval %d s in an old swarm, want about 30", h.Interval)
	}
	clk.add(90 * time.Second)
	if swarms, members := size(s); swarms != 0 || members != 0 {
		t.Errorf("%d members in %d swarms left", members, swarms)
	}
	_, err := c1.Scrape(t.Context(), []byte("swarm"))
	var remote *proto.RemoteError
	if !errors.As(err, &remote) || remote.Code != proto.CodeUnknownSwarm {
		t.Errorf("scrape of an unknown swarm: %v", err)
	}
}

func TestFullTrackerRejectsMembers(t *testing.T) {
	t.Parallel()
	cfg := Default(nil)
	cfg.MaxMembers = 1
	s, info := start(t, cfg, new(clock))
	h1, c1 := node(t, ClientConfig{}, info)
	h2, c2 := node(t, ClientConfig{}, info)
	if _, err := c1.Announce(t.Context(), announce(h1, "A", 0)); err != nil {
		t.Fatal(err)
	}
	_, err := c2.Announce(t.Context(), announce(h2, "A", 0))
	var remote *proto.RemoteError
	if !errors.As(err, &remote) || remote.Code != proto.CodeBusy {
		t.Errorf("got %v, want CodeBusy", err)
	}
	if st := s.Stats(); st.Requests != 2 || st.Busy != 1 || st.Members != 1 || st.Swarms != 1 || st.MaxMembers != 1 {
		t.Errorf("stats %+v", st)
	}
}

// raw opens a stream to the tracker and writes data.
func raw(t *testing.T, h host.Host, info peer.AddrInfo, data []byte) network.Stream {
	t.Helper()
	if err := h.Connect(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	st, err := h.NewStream(t.Context(), info.ID, proto.TrackerProtocol)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Reset() })
	if _, err := st.Write(data); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	s, info := start(t, Default(nil), new(clock))
	h := loopHost(t)
	frame := func(m proto.Message) []byte {
		b, err := proto.AppendFrame(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	good := frame(announce(h, "A", 1))
	for name, data := range map[string][]byte{
		"garbage":               bytes.Repeat([]byte("garbage "), 100),
		"empty frame":           {0, 0, 0, 0},
		"unknown type":          {0, 0, 0, 1, 250},
		"over the limit":        {0, 0, 0x20, 1},
		"largest length":        {0xff, 0xff, 0xff, 0xff},
		"not a request":         frame(&proto.Ping{Nonce: 1}),
		"a reply":               frame(&proto.AnnounceReply{Interval: 1}),
		"bad cluster":           bytes.Replace(good, []byte("aA"), []byte("a/"), 1),
		"cut":                   good[:len(good)-3],
		"nothing, then the end": nil,
	} {
		t.Run(name, func(t *testing.T) {
			st := raw(t, h, info, data)
			if err := st.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			st.SetReadDeadline(time.Now().Add(waitTimeout))
			reply, err := proto.ReadMessage(st)
			if err != nil {
				t.Fatal(err)
			}
			if bye, ok := reply.(*proto.Goodbye); !ok || bye.Code != proto.CodeProtocol || bye.Text == "" {
				t.Errorf("got %+v, want a goodbye with CodeProtocol", reply)
			}
			if _, err := st.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("after the reply: %v, want EOF", err)
			}
		})
	}
	if _, members := size(s); members != 0 {
		t.Errorf("%d members", members)
	}
	if st := s.Stats(); st.Requests != 10 || st.Invalid != 10 {
		t.Errorf("stats %+v", st)
	}
}

func TestSilentClient(t *testing.T) {
	t.Parallel()
	cfg := Default(nil)
	cfg.Timeout = 200 * time.Millisecond
	s, info := start(t, cfg, new(clock))
	h := loopHost(t)
	// The first write carries the protocol's name, and half a length.
	st := raw(t, h, info, []byte{0, 0})
	st.SetReadDeadline(time.Now().Add(waitTimeout))
	if _, err := proto.ReadMessage(st); err != nil {
		t.Errorf("no error message after the timeout: %v", err)
	}
	waitStreams(t, s, 0)
}

// waitStreams waits until the tracker serves n streams.
func waitStreams(t *testing.T, s *Server, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("the tracker serves %d streams", n), func() bool { return s.shares.Used() == n })
}

func TestStreamsOfAddressBounded(t *testing.T) {
	t.Parallel()
	cfg := Default(nil)
	cfg.MaxStreams = 4
	s, info := start(t, cfg, new(clock))
	h := loopHost(t)
	for range 2 {
		raw(t, h, info, []byte{0})
	}
	waitStreams(t, s, 2)
	st := raw(t, h, info, []byte{0})
	st.SetReadDeadline(time.Now().Add(waitTimeout))
	if _, err := st.Read(make([]byte, 1)); !errors.Is(err, network.ErrReset) {
		t.Errorf("the third stream of one address: %v, want a reset", err)
	}
	if _, ok := s.shares.Take(netip.MustParseAddr("192.0.2.1")); !ok {
		t.Error("there is no stream for another address")
	}
}

func TestCloseEndsStreams(t *testing.T) {
	t.Parallel()
	s, info := start(t, Default(nil), new(clock))
	h := loopHost(t)
	st := raw(t, h, info, []byte{0})
	waitStreams(t, s, 1)
	s.Close()
	st.SetReadDeadline(time.Now().Add(waitTimeout))
	if _, err := st.Read(make([]byte, 1)); !errors.Is(err, network.ErrReset) {
		t.Errorf("a stream being served: %v, want a reset", err)
	}
	s.Close()
}

func TestConcurrentAnnounces(t *testing.T) {
	t.Parallel()
	s, info := start(t, Default(nil), new(clock))
	const nodes, each = 4, 50
	var wg sync.WaitGroup
	for range nodes {
		h, c := node(t, ClientConfig{Timeout: waitTimeout}, info)
		for i := range each {
			a := announce(h, "A", 0)
			a.Swarm = fmt.Appendf(nil, "swarm %d", i)
			wg.Go(func() {
				if _, err := c.Announce(t.Context(), a); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if swarms, members := size(s); swarms != each || members != nodes*each {
		t.Errorf("%d members in %d swarms", members, swarms)
	}
}

func BenchmarkAnnounce(b *testing.B) {
	for _, size := range []struct{ clusters, each int }{{4, 4}, {20, 50}, {10, 2000}} {
		b.Run(fmt.Sprintf("%dx%d", size.clusters, size.each), func(b *testing.B) {
			s, info := start(b, Default(nil), new(clock))
			h, c := node(b, ClientConfig{}, info)
			a := announce(h, "c0000", 0)
			a.Swarm = []byte("s")
			s.state.table, _ = newSwarm(b, size.clusters, size.each-1)
			for b.Loop() {
				if _, err := c.Announce(context.Background(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
