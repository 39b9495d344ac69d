package bittorrent

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/tracker"
)

// newTestServer is a tracker in virtual time that does not listen.
func newTestServer(t testing.TB, cfg tracker.Config) (*Server, *clock) {
	t.Helper()
	c := new(clock)
	s, err := newServer("", cfg, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// mustAnnounce announces a, which must not fail.
func mustAnnounce(t testing.TB, s *Server, a announce) announceReply {
	t.Helper()
	out, err := s.announce(&a)
	if err != nil {
		t.Fatalf("announce of %v: %v", a.addr, err)
	}
	return out
}

func count(s *Server, n int) Counts {
	h := hash(n)
	c, _ := s.scrape(h.AsString())
	return c
}

func TestPeersExpire(t *testing.T) {
	t.Parallel()
	s, c := newTestServer(t, defaults(nil))
	one, two := announce{addr: addr("192.0.2.1:1")}, announce{addr: addr("192.0.2.2:1"), left: 1}
	mustAnnounce(t, s, one)
	c.add(10 * time.Minute)
	mustAnnounce(t, s, two)
	c.add(15*time.Minute - 1)
	if got := count(s, 0); got.Seeders != 1 || got.Leechers != 1 {
		t.Errorf("just before expiry: %+v", got)
	}
	mustAnnounce(t, s, two)
	c.add(1)
	if got := count(s, 0); got.Seeders != 0 || got.Leechers != 1 {
		t.Errorf("at the first one's expiry: %+v", got)
	}
	c.add(25 * time.Minute)
	if torrents, peers := s.clients.Len(); torrents != 0 || peers != 0 {
		t.Errorf("%d torrents with %d peers after all have expired", torrents, peers)
	}
}

func TestDownloadCountedOnce(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, defaults(nil))
	a := announce{addr: addr("192.0.2.1:1"), left: 5, event: "started"}
	mustAnnounce(t, s, a)
	a.event = "completed"
	if c := mustAnnounce(t, s, a); c.Counts != (Counts{Leechers: 1}) {
		t.Errorf("completed with 5 bytes left: %+v", c.Counts)
	}
	a.left = 0
	for range 2 {
		if c := mustAnnounce(t, s, a); c.Counts != (Counts{Seeders: 1, Completed: 1}) {
			t.Errorf("completed: %+v", c.Counts)
		}
	}
	a.left, a.event = -1, ""
	if c := mustAnnounce(t, s, a); c.Counts != (Counts{Leechers: 1, Completed: 1}) {
		t.Errorf("unknown left: %+v", c.Counts)
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, defaults(nil))
	one, two := announce{addr: addr("192.0.2.1:1")}, announce{addr: addr("192.0.2.1:2")}
	stop := one
	stop.event = "stopped"
	if out := mustAnnounce(t, s, stop); out.Counts != (Counts{}) || s.Stats().Torrents != 0 {
		t.Errorf("stopped adds a torrent: %+v", out)
	}
	mustAnnounce(t, s, one)
	mustAnnounce(t, s, two)
	for range 2 {
		out := mustAnnounce(t, s, stop)
		if out.Counts.Seeders != 1 || out.Peers != "" || out.Interval == 0 {
			t.Errorf("after one has stopped: %+v", out)
		}
	}
}

// TestBounds fills each table from many addresses, and from one.
func TestBounds(t *testing.T) {
	t.Parallel()
	cfg := defaults(nil)
	cfg.MaxSwarms, cfg.MaxSwarmMembers, cfg.MaxMembers = 8, 16, 32
	fill := func(name string, want int, a func(i int) announce) {
		t.Helper()
		s, c := newTestServer(t, cfg)
		n := 0
		for i := range 100 {
			a := a(i)
			if _, err := s.announce(&a); err == nil {
				n++
			} else if !strings.Contains(err.Error(), "has reached its limit of") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n != want {
			t.Errorf("%s: %d, want %d", name, n, want)
		}
		c.add(defaults(nil).Expiry)
		mustAnnounce(t, s, a(0)) // expired peers have left
	}
	from := func(n int) netip.AddrPort { return addr(fmt.Sprintf("192.0.2.%d:1", n)) }
	one := func(n int) netip.AddrPort { return addr(fmt.Sprintf("[2001:db8::%x]:%d", n, n+1)) } // a /64
	fill("torrents", 8, func(i int) announce { return announce{hash: hash(i), addr: from(i)} })
	fill("peers of a torrent", 16, func(i int) announce { return announce{addr: from(i)} })
	fill("peers", 32, func(i int) announce { return announce{hash: hash(i % 8), addr: from(i)} })
	fill("torrents of one address", 4, func(i int) announce { return announce{hash: hash(i), addr: one(i)} })
	fill("peers of one address in a torrent", 8, func(i int) announce { return announce{addr: one(i)} })
	fill("peers of one address", 16, func(i int) announce { return announce{hash: hash(i % 4), addr: one(i)} })
}

// parse parses peers in compact form.
func parse(peers string, bytes int) (out []netip.AddrPort) {
	for ; peers != ""; peers = peers[bytes+2:] {
		ip, _ := netip.AddrFromSlice([]byte(peers[:bytes]))
		out = append(out, netip.AddrPortFrom(ip, binary.BigEndian.Uint16([]byte(peers[bytes:]))))
	}
	return out
}

func TestSample(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, defaults(nil))
	for i := range 300 { // every third is a seeder, every fifth has IPv6
		ip := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		if i%5 == 0 {
			ip = netip.AddrFrom16([16]byte{0x20, 1, 15: byte(i)})
		}
		mustAnnounce(t, s, announce{addr: netip.AddrPortFrom(ip, uint16(1+i)), left: int64(i % 3)})
	}
	for _, c := range []struct {
		name          string
		from          string
		left, numWant int64
		n4, n6        int
		seeders       int // of them
	}{
		{"leecher", "198.51.100.1:1", 1, -1, 50, 0, 25},
		{"none", "198.51.100.1:1", 1, 0, 0, 0, 0},
		{"few", "198.51.100.1:1", 1, 3, 3, 0, 1},
		{"more than there are", "198.51.100.1:1", 1, 1 << 62, 200, 0, 80},
		{"unknown left", "198.51.100.1:1", -1, 1 << 62, 200, 0, 80},
		{"the other family too", "[2001:db8::1]:1", 1, 100, 40, 60, 40},
		{"seeder", "198.51.100.1:1", 0, 1 << 62, 200, 0, 40},
		{"seeder, enough leechers", "198.51.100.1:1", 0, 100, 100, 0, 0},
	} {
		out := mustAnnounce(t, s, announce{
			addr:    addr(c.from),
			left:    c.left,
			numWant: c.numWant,
		})
		seeders, seen := 0, map[netip.AddrPort]bool{addr(c.from): true}
		peers4, peers6 := parse(out.Peers, 4), parse(out.Peers6, 16)
		for _, p := range append(slices.Clone(peers4), peers6...) {
			if seen[p] {
				t.Errorf("%s: %v, twice or itself", c.name, p)
			}
			seen[p] = true
			if (p.Port()-1)%3 == 0 {
				seeders++
			}
		}
		if len(peers4) != c.n4 || len(peers6) != c.n6 || seeders != c.seeders {
			t.Errorf("%s: %d and %d peers, %d seeders; want %d, %d, %d",
				c.name, len(peers4), len(peers6), seeders, c.n4, c.n6, c.seeders)
		}
		mustAnnounce(t, s, announce{addr: addr(c.from), event: "stopped"})
	}
}

// TestLoopbackPeersNotSent checks that loopback and link-local addresses are sent to clients with such an address only.
func TestLoopbackPeersNotSent(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, defaults(nil))
	all := []string{"127.0.0.1:1", "127.0.0.1:2", "169.254.0.1:1", "169.254.0.2:1", "10.0.0.1:1", "192.0.2.1:1", "[::1]:1", "[fe80::1]:1"}
	for _, a := range all {
		mustAnnounce(t, s, announce{addr: addr(a), left: 1})
	}
	for at, want := range map[string][]string{
		"192.0.2.9:1":   all[4:6],
		"10.0.0.9:1":    all[4:6],
		"169.254.0.9:1": {all[2], all[3], all[4], all[5], all[7]},
		"127.0.0.9:1":   {all[0], all[1], all[4], all[5], all[6]},
	} {
		out := mustAnnounce(t, s, announce{addr: addr(at), left: 1, numWant: 50})
		var got []string
		for _, p := range slices.Concat(parse(out.Peers, 4), parse(out.Peers6, 16)) {
			if !slices.Contains(all, p.String()) {
				continue // one of this loop
			}
			got = append(got, p.String())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("to %s: %q, want %q", at, got, want)
		}
	}
}

// Every peer is in as many replies as any other.
func TestSampleUniform(t *testing.T) {
	t.Parallel()
	cfg := defaults(nil)
	cfg.Seed = 1
	s, _ := newTestServer(t, cfg)
	const peers, asked = 100, 2000
	replies := map[netip.AddrPort]int{}
	for i := range peers {
		mustAnnounce(t, s, announce{addr: addr(fmt.Sprintf("192.0.2.%d:1", i)), left: 1})
	}
	for range asked {
		out := mustAnnounce(t, s, announce{addr: addr("198.51.100.1:1"), left: 1, numWant: 10})
		for _, p := range parse(out.Peers, 4) {
			replies[p]++
		}
	}
	if len(replies) != peers {
		t.Errorf("%d of %d peers are in replies", len(replies), peers)
	}
	for p, n := range replies { // 200 on average, with a deviation of 13
		if n < 130 || n > 270 {
			t.Errorf("%v is in %d replies", p, n)
		}
	}
}

func TestIntervalHasJitter(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, defaults(nil))
	seen := map[int64]bool{}
	for range 100 {
		d := mustAnnounce(t, s, announce{addr: addr("192.0.2.1:1")}).Interval
		if d < 9*60 || d > 11*60 {
			t.Fatalf("interval of %d s", d)
		}
		seen[d] = true
	}
	if len(seen) < 30 {
		t.Errorf("%d different intervals of 100", len(seen))
	}
}

// BenchmarkAnnounce is an announce of a known peer in a full table. It reports the
// memory of a peer.
func BenchmarkAnnounce(b *testing.B) {
	cfg := defaults(nil)
	from := func(i int) announce {
		i %= cfg.MaxMembers
		return announce{
			hash: hash(i % 5000),
			addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 6881),
			left: int64(i % 3), numWant: -1,
		}
	}
	before := heap()
	s, _ := newTestServer(b, cfg)
	for i := range cfg.MaxMembers {
		mustAnnounce(b, s, from(i))
	}
	used := heap() - before
	for i := 0; b.Loop(); i++ {
		mustAnnounce(b, s, from(i))
	}
	b.ReportMetric(float64(used)/float64(cfg.MaxMembers), "B/peer")
}

// heap returns the size of the heap in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
