package bittorrent

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// mustAnnounce announces a, which must not fail.
func mustAnnounce(t testing.TB, tb *table, now time.Time, a announce) announceResult {
	t.Helper()
	out, err := tb.announce(now, &a)
	if err != nil {
		t.Fatalf("announce of %v: %v", a.addr, err)
	}
	return out
}

// check checks that the parts of a table are consistent, and its limits.
func check(t testing.TB, tb *table) {
	t.Helper()
	peers, hosts := 0, map[netip.Addr]int{}
	for h, to := range tb.torrents {
		if to.hash != h || len(to.peers) == 0 {
			t.Fatalf("torrent %v under %v has %d peers", to.hash, h, len(to.peers))
		}
		listed := 0
		for _, c := range []*peerList{&to.v4.seeders, &to.v4.leechers, &to.v6.seeders, &to.v6.leechers} {
			for i, p := range *c {
				if p.index != i || p.list != c || to.peers[p.addr] != p || p.torrent != to {
					t.Fatalf("peer %+v at %d", p, i)
				}
				if own, _ := to.families(p.addr.Addr()); c != &own.seeders && c != &own.leechers {
					t.Fatalf("%v is in the wrong family", p.addr)
				}
				listed++
				hosts[host(p.addr.Addr())]++
			}
		}
		if listed != len(to.peers) {
			t.Fatalf("%d peers in lists, %d in all", listed, len(to.peers))
		}
		peers += listed
	}
	if peers != tb.order.Len() || fmt.Sprint(hosts) != fmt.Sprint(tb.hosts) {
		t.Fatalf("%d peers of %v, want %d of %v", tb.order.Len(), tb.hosts, peers, hosts)
	}
	if len(tb.torrents) > tb.cfg.MaxTorrents || peers > tb.cfg.MaxPeers {
		t.Fatalf("%d torrents with %d peers", len(tb.torrents), peers)
	}
	for h, n := range hosts {
		if n > tb.cfg.MaxHostPeers {
			t.Fatalf("%d peers of %v", n, h)
		}
	}
}

func TestPeersExpire(t *testing.T) {
	t.Parallel()
	tb := newTable(Default())
	at := func(d time.Duration) time.Time { return epoch.Add(d) }
	one, two := announce{addr: addr("192.0.2.1:1")}, announce{addr: addr("192.0.2.2:1"), left: 1}
	mustAnnounce(t, tb, at(0), one)
	mustAnnounce(t, tb, at(10*time.Minute), two)
	if c, _ := tb.scrape(at(25*time.Minute-1), infohash.T{}); c.Seeders != 1 || c.Leechers != 1 {
		t.Errorf("just before expiry: %+v", c)
	}
	mustAnnounce(t, tb, at(25*time.Minute-1), two)
	if c, _ := tb.scrape(at(25*time.Minute), infohash.T{}); c.Seeders != 0 || c.Leechers != 1 {
		t.Errorf("at the first one's expiry: %+v", c)
	}
	// A clock that jumps back neither restores nor keeps a peer.
	mustAnnounce(t, tb, at(0), one)
	check(t, tb)
	if _, known := tb.scrape(at(50*time.Minute), infohash.T{}); known || len(tb.hosts) != 0 {
		t.Errorf("known after all have expired, with hosts %v", tb.hosts)
	}
}

func TestDownloadsAreCountedOnce(t *testing.T) {
	t.Parallel()
	tb := newTable(Default())
	a := announce{addr: addr("192.0.2.1:1"), left: 5, event: "started"}
	mustAnnounce(t, tb, epoch, a)
	a.event = "completed"
	if c := mustAnnounce(t, tb, epoch, a); c.counts != (Counts{Leechers: 1}) {
		t.Errorf("completed with 5 bytes left: %+v", c.counts)
	}
	a.left = 0
	for range 2 {
		if c := mustAnnounce(t, tb, epoch, a); c.counts != (Counts{Seeders: 1, Completed: 1}) {
			t.Errorf("completed: %+v", c.counts)
		}
	}
	a.left, a.event = -1, ""
	if c := mustAnnounce(t, tb, epoch, a); c.counts != (Counts{Leechers: 1, Completed: 1}) {
		t.Errorf("unknown left: %+v", c.counts)
	}
	check(t, tb)
}

func TestStopped(t *testing.T) {
	t.Parallel()
	tb := newTable(Default())
	one, two := announce{addr: addr("192.0.2.1:1")}, announce{addr: addr("192.0.2.1:2")}
	stop := one
	stop.event = "stopped"
	if out := mustAnnounce(t, tb, epoch, stop); out.counts != (Counts{}) || len(tb.torrents) != 0 {
		t.Errorf("stopped adds a torrent: %+v", out)
	}
	mustAnnounce(t, tb, epoch, one)
	mustAnnounce(t, tb, epoch, two)
	for range 2 {
		out := mustAnnounce(t, tb, epoch, stop)
		if out.counts.Seeders != 1 || len(out.peers4) != 0 || out.interval == 0 {
			t.Errorf("after one has stopped: %+v", out)
		}
	}
	check(t, tb)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.MaxTorrents, cfg.MaxTorrentPeers, cfg.MaxPeers, cfg.MaxHostPeers = 3, 4, 7, 3
	refused := func(tb *table, want string, a announce) {
		t.Helper()
		if _, err := tb.announce(epoch, &a); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", a.addr, err, want)
		}
		check(t, tb)
	}
	from := func(n int) netip.AddrPort { return addr(fmt.Sprintf("192.0.2.%d:1", n)) }

	tb := newTable(cfg)
	for i := range 4 {
		mustAnnounce(t, tb, epoch, announce{addr: from(i)})
	}
	refused(tb, "the torrent has reached its limit of peers", announce{addr: from(9)})
	mustAnnounce(t, tb, epoch, announce{addr: from(0)}) // known
	mustAnnounce(t, tb, epoch, announce{hash: hash(1), addr: from(0)})
	mustAnnounce(t, tb, epoch, announce{hash: hash(2), addr: from(0)})
	refused(tb, "the tracker has reached its limit of torrents", announce{hash: hash(3), addr: from(9)})
	refused(tb, "your address has reached its limit of peers", announce{hash: hash(2), addr: addr("192.0.2.0:2")})
	mustAnnounce(t, tb, epoch, announce{hash: hash(2), addr: from(9)})
	refused(tb, "the tracker has reached its limit of peers", announce{hash: hash(1), addr: from(8)})
	refused(tb, "port 0 is not a valid port", announce{addr: addr("192.0.2.0:0")})

	// An IPv6 host has a network of addresses.
	tb = newTable(cfg)
	for i := range 3 {
		mustAnnounce(t, tb, epoch, announce{addr: addr(fmt.Sprintf("[2001:db8::%x:1]:1", i))})
	}
	refused(tb, "your address has reached its limit of peers", announce{addr: addr("[2001:db8::9]:1")})
	mustAnnounce(t, tb, epoch, announce{addr: addr("[2001:db8:0:1::9]:1")})
	mustAnnounce(t, tb, epoch.Add(cfg.Expiry), announce{addr: addr("[2001:db8::9]:1")}) // expired peers make room
	check(t, tb)
}

func TestSample(t *testing.T) {
	t.Parallel()
	tb := newTable(Default())
	for i := range 300 { // every third is a seeder, every fifth has IPv6
		ip := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		if i%5 == 0 {
			ip = netip.AddrFrom16([16]byte{0x20, 1, 15: byte(i)})
		}
		mustAnnounce(t, tb, epoch, announce{addr: netip.AddrPortFrom(ip, uint16(1+i)), left: int64(i % 3)})
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
		out := mustAnnounce(t, tb, epoch, announce{
			addr:    addr(c.from),
			left:    c.left,
			numWant: c.numWant,
		})
		seeders, seen := 0, map[netip.AddrPort]bool{addr(c.from): true}
		for i, p := range append(slices.Clone(out.peers4), out.peers6...) {
			if (i < len(out.peers4)) != p.Addr().Is4() || seen[p] {
				t.Errorf("%s: %v at %d, of the wrong family, twice or itself", c.name, p, i)
			}
			seen[p] = true
			if tb.torrents[infohash.T{}].peers[p].isSeeder() {
				seeders++
			}
		}
		if len(out.peers4) != c.n4 || len(out.peers6) != c.n6 || seeders != c.seeders {
			t.Errorf("%s: %d and %d peers, %d seeders; want %d, %d, %d",
				c.name, len(out.peers4), len(out.peers6), seeders, c.n4, c.n6, c.seeders)
		}
		mustAnnounce(t, tb, epoch, announce{addr: addr(c.from), event: "stopped"})
		check(t, tb)
	}
}

// TestLoopbackStaysHere checks that loopback and link-local addresses are sent to clients with such an address only.
func TestLoopbackStaysHere(t *testing.T) {
	t.Parallel()
	tb := newTable(Default())
	all := []string{"127.0.0.1:1", "127.0.0.1:2", "169.254.0.1:1", "169.254.0.2:1", "10.0.0.1:1", "192.0.2.1:1", "[::1]:1", "[fe80::1]:1"}
	for _, a := range all {
		mustAnnounce(t, tb, epoch, announce{addr: addr(a), left: 1})
	}
	for at, want := range map[string][]string{
		"192.0.2.9:1":   all[4:6],
		"10.0.0.9:1":    all[4:6],
		"169.254.0.9:1": {all[2], all[3], all[4], all[5], all[7]},
		"127.0.0.9:1":   {all[0], all[1], all[4], all[5], all[6]},
	} {
		out := mustAnnounce(t, tb, epoch, announce{addr: addr(at), left: 1, numWant: 50})
		var got []string
		for _, p := range slices.Concat(out.peers4, out.peers6) {
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

// Every peer is in as many replies as others.
func TestSampleIsFair(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.Seed = 1
	tb := newTable(cfg)
	const peers, asked = 100, 2000
	replies := map[netip.AddrPort]int{}
	for i := range peers {
		mustAnnounce(t, tb, epoch, announce{addr: addr(fmt.Sprintf("192.0.2.%d:1", i)), left: 1})
	}
	for range asked {
		out := mustAnnounce(t, tb, epoch, announce{addr: addr("198.51.100.1:1"), left: 1, numWant: 10})
		for _, p := range out.peers4 {
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
	tb := newTable(Default())
	seen := map[time.Duration]bool{}
	for range 100 {
		d := mustAnnounce(t, tb, epoch, announce{addr: addr("192.0.2.1:1")}).interval
		if d < 9*time.Minute || d > 11*time.Minute {
			t.Fatalf("interval %v", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("%d different intervals of 100", len(seen))
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	tb := newTable(Default())
	for i := range 3 {
		mustAnnounce(t, tb, epoch, announce{hash: hash(i), addr: addr("192.0.2.1:1")})
		mustAnnounce(t, tb, epoch, announce{hash: hash(i), addr: addr("[2001:db8::1]:1")})
	}
	tb.allow(map[infohash.T]struct{}{hash(1): {}, hash(7): {}})
	if len(tb.torrents) != 1 || tb.order.Len() != 2 {
		t.Errorf("%d torrents with %d peers left", len(tb.torrents), tb.order.Len())
	}
	check(t, tb)
	mustAnnounce(t, tb, epoch, announce{hash: hash(7), addr: addr("192.0.2.1:1")})
	if _, err := tb.announce(epoch, &announce{hash: hash(2), addr: addr("192.0.2.1:1")}); err == nil {
		t.Error("an announce succeeds for a torrent that is not in the list")
	}
}

// TestRandomAnnounces wants the table to stay consistent and within its limits.
func TestRandomAnnounces(t *testing.T) {
	t.Parallel()
	cfg := Default()
	cfg.MaxTorrents, cfg.MaxTorrentPeers, cfg.MaxPeers, cfg.MaxHostPeers = 20, 30, 200, 25
	tb := newTable(cfg)
	rng := rand.New(rand.NewPCG(1, 2))
	now := epoch
	refused := 0
	for i := range 20_000 {
		ip := netip.AddrFrom4([4]byte{192, 0, 2, byte(rng.IntN(16))})
		if rng.IntN(2) == 0 {
			ip = netip.AddrFrom16([16]byte{0x20, 1, 7: byte(rng.IntN(8)), 15: byte(rng.IntN(8))})
		}
		a := announce{
			hash:    hash(rng.IntN(40)),
			addr:    netip.AddrPortFrom(ip, uint16(rng.IntN(20))),
			left:    rng.Int64N(3) - 1,
			event:   []string{"", "started", "stopped", "completed"}[rng.IntN(4)],
			numWant: rng.Int64N(400) - 100,
		}
		now = now.Add(time.Duration(rng.IntN(20)) * time.Second)
		if _, err := tb.announce(now, &a); err != nil {
			refused++
		}
		if i%20 == 0 {
			check(t, tb)
		}
	}
	if refused < 1000 || refused > 19_000 {
		t.Errorf("%d of 20,000 refused: one of the two outcomes is hardly tested", refused)
	}
	tb.expire(now.Add(cfg.Expiry))
	check(t, tb)
	if tb.order.Len() != 0 {
		t.Errorf("%d peers left in the end", tb.order.Len())
	}
}

// BenchmarkAnnounce is an announce of a known peer in a full table. It reports the
// memory of a peer.
func BenchmarkAnnounce(b *testing.B) {
	cfg := Default()
	cfg.MaxHostPeers = cfg.MaxPeers
	from := func(i int) announce {
		i %= cfg.MaxPeers
		return announce{
			hash: hash(i % 5000),
			addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 6881),
			left: int64(i % 3), numWant: -1,
		}
	}
	before := heap()
	tb := newTable(cfg)
	for i := range cfg.MaxPeers {
		mustAnnounce(b, tb, epoch, from(i))
	}
	used := heap() - before
	for i := 0; b.Loop(); i++ {
		mustAnnounce(b, tb, epoch, from(i))
	}
	b.ReportMetric(float64(used)/float64(cfg.MaxPeers), "B/peer")
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
