package transport

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
)

// maxInbound is the number of inbound connections of a host with maxConns.
const maxInbound = maxConns * 3 / 4

func startLimits(t *testing.T, conns int) *limits {
	t.Helper()
	l, err := newLimits(conns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// connect opens connections from an address until one fails, and returns them.
func connect(t *testing.T, l *limits, from string) (open []network.ConnManagementScope) {
	t.Helper()
	for {
		c, err := l.OpenConnection(network.DirInbound, true, ma.StringCast(from))
		if err != nil {
			return open
		}
		open = append(open, c)
	}
}

// The nodes of a site behind one address may be thousands; libp2p's default is eight. But
// one address cannot take all connections: other addresses have room, and so have dialed ones.
func TestConnectionsOfOneAddress(t *testing.T) {
	l := startLimits(t, maxConns)
	site := connect(t, l, "/ip4/9.9.9.9/tcp/1234")
	if len(site) != maxInbound/2 {
		t.Errorf("one address has %d connections of %d", len(site), maxInbound)
	}
	// All addresses of a /64 are one host's.
	n := 0
	for i := range 10 {
		n += len(connect(t, l, fmt.Sprintf("/ip6/2001:db8::%d/tcp/1234", i+1)))
	}
	if n != maxInbound/4 {
		t.Errorf("the next has %d connections of %d", n, maxInbound)
	}
	if _, err := l.OpenConnection(network.DirInbound, true, ma.StringCast("/ip4/9.9.9.8/tcp/1")); err != nil {
		t.Errorf("a third address: %v", err)
	}
	for i := range 1000 {
		if _, err := l.OpenConnection(network.DirOutbound, true, ma.StringCast("/ip4/9.9.9.9/tcp/1234")); err != nil {
			t.Fatalf("dial %d: %v", i, err)
		}
	}
	for _, c := range site[:10] {
		c.Done()
		c.Done() // again, as a socket that is reset twice
	}
	if n := len(connect(t, l, "/ip4/9.9.9.7/tcp/1234")); n == 0 {
		t.Error("closed connections are not released")
	}
}

// A process that may open few files has half of them left when many addresses open as many connections as they can.
func TestConnectionsLeaveFiles(t *testing.T) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	few := files
	few.Cur = 1024
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	conns := connsByFiles()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	l := startLimits(t, conns)
	n := 0
	for i := range 200 {
		n += len(connect(t, l, fmt.Sprintf("/ip4/9.9.9.%d/tcp/1234", i)))
	}
	for ; n < 1024; n++ {
		if _, err := l.OpenConnection(network.DirOutbound, true, ma.StringCast("/ip4/9.9.9.9/tcp/1234")); err != nil {
			break
		}
	}
	if n != 512 {
		t.Errorf("%d connections with 1,024 files", n)
	}
}

// join has a peer connect from an address.
func join(t *testing.T, l *limits, id peer.ID, from string) network.ConnManagementScope {
	t.Helper()
	c, err := l.OpenConnection(network.DirInbound, true, ma.StringCast(from))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetPeer(id); err != nil {
		t.Fatal(err)
	}
	return c
}

// openStreams opens streams of a peer until one fails.
func openStreams(l *limits, id peer.ID, most int) (open []network.StreamManagementScope) {
	for range most {
		s, err := l.OpenStream(id, network.DirInbound)
		if err != nil {
			break
		}
		open = append(open, s)
	}
	return open
}

// Non-members have few streams: each peer, each address, and all of them. Members have as many
// as they share swarms.
func TestNonMemberStreamsBounded(t *testing.T) {
	l := startLimits(t, maxConns)
	n := 0
	for i := range maxNonMemberStreams {
		id := peer.ID(fmt.Sprint("stranger ", i))
		join(t, l, id, "/ip4/9.9.9.9/tcp/1234")
		of := len(openStreams(l, id, 2*maxPeerStreams))
		if of > maxNonMemberPeerStreams {
			t.Fatalf("a non-member has %d streams", of)
		}
		if n += of; of == 0 {
			break
		}
	}
	if n != maxNonMemberStreams/2 {
		t.Errorf("non-members at one address have %d streams of %d", n, maxNonMemberStreams)
	}
	join(t, l, "member", "/ip4/9.9.9.9/tcp/1234")
	if len(openStreams(l, "member", 1)) != 0 {
		t.Error("the address has more than its share")
	}
	l.protect("member", true)
	open := openStreams(l, "member", 2*maxPeerStreams)
	if len(open) != maxPeerStreams {
		t.Errorf("a member has %d streams, want %d", len(open), maxPeerStreams)
	}
	for _, s := range open {
		s.Done()
	}
	l.protect("member", false)
	// Streams that a member opened before it was one do not count.
	join(t, l, "other", "/ip4/9.9.9.8/tcp/1234")
	open = openStreams(l, "other", 10)
	used := l.streams.Used()
	l.protect("other", true)
	if got := l.streams.Used(); len(open) != 10 || got != used-10 {
		t.Errorf("%d streams of a new member, %d of non-members, %d before", len(open), got, used)
	}
	for _, s := range open {
		s.Done()
		s.Done()
	}
}

// TestMemberStreamsBounded checks that members at one address, which anyone with a link may be, do not take all streams.
func TestMemberStreamsBounded(t *testing.T) {
	l := startLimits(t, maxConns)
	member := func(name, from string, most int) []network.StreamManagementScope {
		join(t, l, peer.ID(name), from)
		l.protect(peer.ID(name), true)
		return openStreams(l, peer.ID(name), most)
	}
	var open []network.StreamManagementScope
	for i := range 2 * maxStreams / maxPeerStreams {
		open = append(open, member(fmt.Sprint("member ", i), "/ip4/9.9.9.9/tcp/1234", maxPeerStreams)...)
	}
	if most := (maxStreams - maxNonMemberStreams) / 2; len(open) != most {
		t.Errorf("members at one address have %d streams, want %d", len(open), most)
	}
	if n := len(member("other", "/ip4/9.9.9.8/tcp/1234", maxPeerStreams)); n != maxPeerStreams {
		t.Errorf("a member at another address has %d streams", n)
	}
	for _, s := range open {
		s.Done()
	}
	if used := l.members.Used(); used != maxPeerStreams {
		t.Errorf("%d streams count after the end of %d", used, len(open))
	}
}

// The connection of a non-member ends some time after its last stream. That of a member does
// not.
func TestIdleConnections(t *testing.T) {
	t.Run("few", func(t *testing.T) { testIdleConnections(t, idleTimeout, 0) })
	t.Run("many", func(t *testing.T) { testIdleConnections(t, idleCheck, maxConns) })
}

// testIdleConnections checks when an idle connection is closed beside more of them.
func testIdleConnections(t *testing.T, timeout time.Duration, more int) {
	a, b := newListening(t), newListening(t)
	b.SetStreamHandler("/echo", func(s network.Stream) { s.Close() })
	if err := a.Connect(within(t), peer.AddrInfo{ID: b.ID(), Addrs: b.Addrs()}); err != nil {
		t.Fatal(err)
	}
	s, err := a.NewStream(within(t), b.ID(), protocol.ID("/echo"))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	l := b.ConnManager().(protector).limits
	at := time.Now()
	l.mu.Lock()
	l.now = func() time.Time { return at } // called with the lock held
	for range more {
		l.conns.Grant(netip.Addr{})
	}
	l.mu.Unlock()
	until := func(what string, holds func(network.Conn) bool) {
		t.Helper()
		for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if !slices.ContainsFunc(b.Network().Conns(), func(c network.Conn) bool { return !holds(c) }) {
				return
			}
		}
		t.Fatal("timeout: ", what)
	}
	until("streams end", func(c network.Conn) bool { return c.Stat().NumStreams == 0 })
	check := func(after time.Duration, open int) {
		t.Helper()
		l.mu.Lock()
		at = at.Add(after)
		l.mu.Unlock()
		if idle := l.isIdle(a.ID()); idle != (open == 0) {
			t.Fatalf("after %v: idle %t", after, idle)
		}
		l.closeIdle(b.Network().Conns())
		if open == 0 {
			until("idle connections end", func(network.Conn) bool { return false })
		}
		if got := len(b.Network().Conns()); got != open {
			t.Errorf("after %v: %d connections, want %d", after, got, open)
		}
	}
	b.ConnManager().Protect(a.ID(), "swarm")
	check(2*idleTimeout, 1)
	b.ConnManager().Unprotect(a.ID(), "swarm")
	check(timeout/2, 1)
	check(timeout, 0)
}

// A stream that is not read takes 256 KiB, and not more however much is sent.
func TestUnreadStream(t *testing.T) {
	a, b := newListening(t), newListening(t)
	b.SetStreamHandler("/unread", func(s network.Stream) {
		_, _ = s.Read(make([]byte, 1))
		<-t.Context().Done()
		s.Reset()
	})
	if err := a.Connect(within(t), peer.AddrInfo{ID: b.ID(), Addrs: b.Addrs()}); err != nil {
		t.Fatal(err)
	}
	s, err := a.NewStream(within(t), b.ID(), protocol.ID("/unread"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	sent := 0
	for {
		_ = s.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := s.Write(make([]byte, 16<<10))
		sent += n
		if err != nil {
			break
		}
	}
	if sent > 512<<10 {
		t.Errorf("%d KiB were sent to a stream that is not read", sent>>10)
	}
}
