package tracker

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// join announces a member that has have of total pieces.
func join(t testing.TB, tb *table, now time.Time, swarm, cluster, id string, have, total uint32) *member {
	t.Helper()
	a := &proto.Announce{Swarm: []byte(swarm), Cluster: cluster, Have: have, Total: total}
	m, err := tb.announce(now, elsewhere(proto.PeerID(id), swarm), a)
	if err != nil {
		t.Fatalf("announce of %s: %v", id, err)
	}
	return m
}

// elsewhere returns an origin whose address is like no other's.
func elsewhere(id proto.PeerID, swarm string) origin {
	sum := sha256.Sum256([]byte(swarm + "/" + string(id)))
	return origin{id: id, host: netip.AddrFrom16([16]byte(sum[:16]))}
}

// One address takes no more than half of each table, and has no effect on other addresses.
func TestTableSharesOfAddresses(t *testing.T) {
	t.Parallel()
	cfg := Default(nil)
	cfg.MaxSwarms, cfg.MaxSwarmMembers, cfg.MaxMembers = 100, 60, 1000
	tb := newTable(cfg)
	flooder := netip.MustParseAddr("192.0.2.1")
	flood := func(swarm func(int) string) (n int) {
		for i := range 2000 {
			from := origin{id: proto.PeerID(fmt.Sprint("flooder ", i)), host: flooder}
			if _, err := tb.announce(epoch, from, &proto.Announce{Swarm: []byte(swarm(i)), Cluster: "A"}); err == nil {
				n++
			}
		}
		return n
	}
	if n := flood(func(i int) string { return fmt.Sprint("swarm ", i) }); n != 50 {
		t.Errorf("one address made %d swarms of 100", n)
	}
	if n := flood(func(int) string { return "one" }); n > 0 {
		t.Errorf("one more swarm has %d members of the address", n)
	}
	join(t, tb, epoch, "one", "A", "honest", 0, 0)
	if n := flood(func(int) string { return "one" }); n != 30 {
		t.Errorf("one address has %d members of 60 in a swarm", n)
	}
	flood(func(i int) string { return fmt.Sprint("swarm ", i/50) })
	if n := tb.order.Len(); n > 501 {
		t.Errorf("one address has %d members of 1000", n-1)
	}
	for i := range 40 {
		join(t, tb, epoch, fmt.Sprint("honest ", i), "A", "honest", 0, 0)
	}
	for i := range 20 {
		join(t, tb, epoch, "one", "A", fmt.Sprint("honest ", i), 0, 0)
	}
	tb.expire(epoch.Add(time.Hour))
	if n := tb.created.Used() + tb.entries.Used(); n != 0 {
		t.Errorf("%d slots are not released", n)
	}
}

func TestTableExpiry(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	join(t, tb, epoch, "s", "A", "one", 0, 10)
	join(t, tb, epoch.Add(60*time.Second), "s", "A", "two", 0, 10)
	join(t, tb, epoch.Add(89*time.Second), "s", "A", "three", 0, 10)
	if tb.order.Len() != 3 {
		t.Fatalf("%d members after 89 s, want 3", tb.order.Len())
	}
	tb.expire(epoch.Add(90 * time.Second))
	if tb.order.Len() != 2 {
		t.Fatalf("%d members after 90 s, want 2", tb.order.Len())
	}
	join(t, tb, epoch.Add(149*time.Second), "s", "A", "two", 1, 10)
	// A clock that jumps back neither restores nor keeps a member.
	join(t, tb, epoch, "s", "A", "four", 0, 10)
	tb.expire(epoch.Add(238 * time.Second))
	if tb.order.Len() != 2 {
		t.Fatalf("%d members after 238 s, want two and four", tb.order.Len())
	}
	tb.expire(epoch.Add(239 * time.Second))
	if tb.order.Len() != 0 || len(tb.swarms) != 0 {
		t.Fatalf("%d members in %d swarms left", tb.order.Len(), len(tb.swarms))
	}
}

func TestTableBounds(t *testing.T) {
	t.Parallel()
	cfg := Default(nil)
	cfg.MaxSwarms, cfg.MaxSwarmMembers, cfg.MaxMembers = 3, 5, 9
	tb := newTable(cfg)
	refused := func(now time.Time, swarm, cluster, id string) {
		t.Helper()
		_, err := tb.announce(now, elsewhere(proto.PeerID(id), swarm), &proto.Announce{Swarm: []byte(swarm), Cluster: cluster})
		if proto.CodeOf(err) != proto.CodeBusy {
			t.Errorf("%s joined %s: %v, want CodeBusy", id, swarm, err)
		}
	}
	for i := range 5 {
		join(t, tb, epoch, "one", "A", fmt.Sprint(i), 0, 0)
	}
	refused(epoch, "one", "A", "x")
	join(t, tb, epoch, "one", "B", "3", 0, 0) // a known member may announce, and change its cluster
	join(t, tb, epoch, "two", "A", "x", 0, 0)
	join(t, tb, epoch, "three", "A", "x", 0, 0)
	refused(epoch, "four", "A", "x")
	join(t, tb, epoch, "three", "A", "y", 0, 0)
	join(t, tb, epoch.Add(time.Second), "three", "A", "z", 0, 0)
	refused(epoch, "two", "A", "y") // in total
	// Expired members free slots.
	join(t, tb, epoch.Add(90*time.Second), "four", "A", "x", 0, 0)
	if len(tb.swarms) != 2 || tb.order.Len() != 2 {
		t.Errorf("%d members in %d swarms, want three/z and four/x", tb.order.Len(), len(tb.swarms))
	}
}

func TestTableBoundsClusters(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	for i := range proto.MaxClusters {
		join(t, tb, epoch, "s", fmt.Sprint("c", i), fmt.Sprint(i), 0, 0)
	}
	_, err := tb.announce(epoch, elsewhere("x", "s"), &proto.Announce{Swarm: []byte("s"), Cluster: "more"})
	if proto.CodeOf(err) != proto.CodeBusy {
		t.Errorf("one cluster more: %v, want CodeBusy", err)
	}
	if _, err := proto.AppendFrame(nil, tb.scrape(epoch, []byte("s"))); err != nil {
		t.Error(err)
	}
}

func TestScrapeOfMembersWithoutManifest(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	join(t, tb, epoch, "s", "A", "source", 10, 10)
	join(t, tb, epoch, "s", "B", "half", 4, 10)
	join(t, tb, epoch, "s", "B", "no manifest", 0, 0)
	want := []proto.ScrapeCluster{{Name: "A", Nodes: 1, Whole: 1}, {Name: "B", Nodes: 2, Missing: 16}}
	if got := tb.scrape(epoch, []byte("s")).Clusters; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if f := tb.scrape(epoch, []byte("other")); f != nil {
		t.Errorf("unknown swarm: %+v", f)
	}
}

// record is a member of a slowTable.
type record struct {
	swarm, cluster string
	id             proto.PeerID
	have, total    uint32
	lastSeen       time.Time
}

// slowTable is an oracle for table: a list that every call searches.
type slowTable struct {
	cfg    Config
	all    []record
	totals map[string]uint32
}

func (s *slowTable) expire(now time.Time) {
	s.all = slices.DeleteFunc(s.all, func(r record) bool { return now.Sub(r.lastSeen) >= s.cfg.Expiry })
	for swarm := range s.totals {
		if len(s.in(swarm)) == 0 {
			delete(s.totals, swarm)
		}
	}
}

func (s *slowTable) in(swarm string) []record {
	var out []record
	for _, r := range s.all {
		if r.swarm == swarm {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.id, b.id))
	})
	return out
}

func (s *slowTable) announce(now time.Time, r record) bool {
	s.expire(now)
	i := slices.IndexFunc(s.all, func(o record) bool { return o.swarm == r.swarm && o.id == r.id })
	_, known := s.totals[r.swarm]
	if i < 0 && (len(s.all) >= s.cfg.MaxMembers || len(s.in(r.swarm)) >= s.cfg.MaxSwarmMembers ||
		!known && len(s.totals) >= s.cfg.MaxSwarms) {
		return false
	}
	if r.total != 0 || !known {
		s.totals[r.swarm] = r.total
	}
	r.lastSeen = now
	if i >= 0 {
		s.all[i] = r
	} else {
		s.all = append(s.all, r)
	}
	return true
}

func (s *slowTable) leave(now time.Time, swarm string, id proto.PeerID) {
	s.expire(now)
	s.all = slices.DeleteFunc(s.all, func(r record) bool { return r.swarm == swarm && r.id == id })
	s.expire(now)
}

func (s *slowTable) scrape(swarm string) []proto.ScrapeCluster {
	var out []proto.ScrapeCluster
	for _, r := range s.in(swarm) {
		if len(out) == 0 || out[len(out)-1].Name != r.cluster {
			out = append(out, proto.ScrapeCluster{Name: r.cluster})
		}
		c := &out[len(out)-1]
		c.Nodes++
		switch {
		case r.total == 0:
			c.Missing += uint64(s.totals[swarm])
		case r.have == r.total:
			c.Whole++
		default:
			c.Missing += uint64(r.total - r.have)
		}
	}
	return out
}

func TestTableAgainstSlowTable(t *testing.T) {
	t.Parallel()
	cfg := Default(nil)
	cfg.MaxSwarms, cfg.MaxSwarmMembers, cfg.MaxMembers = 4, 12, 30
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		fast, slow := newTable(cfg), &slowTable{cfg: cfg, totals: map[string]uint32{}}
		now := epoch
		for step := range 500 {
			now = now.Add(time.Duration(rng.IntN(8000)) * time.Millisecond)
			swarm := fmt.Sprint("swarm", rng.IntN(6))
			id := proto.PeerID(fmt.Sprint("peer", rng.IntN(25)))
			if rng.IntN(5) == 0 {
				fast.leave(now, []byte(swarm), id)
				slow.leave(now, swarm, id)
			} else {
				r := record{swarm: swarm, id: id, cluster: []string{"A", "A/x", "A/x/1", "A/y", "B"}[rng.IntN(5)]}
				if rng.IntN(3) > 0 {
					r.total = 8
					r.have = rng.Uint32N(9)
				}
				a := &proto.Announce{Swarm: []byte(swarm), Cluster: r.cluster, Have: r.have, Total: r.total}
				_, err := fast.announce(now, elsewhere(id, swarm), a)
				if ok := slow.announce(now, r); ok != (err == nil) {
					t.Fatalf("seed %d step %d: accepted %v, error %v", seed, step, ok, err)
				}
			}
			compare(t, fast, slow, now)
		}
	}
}

func compare(t *testing.T, fast *table, slow *slowTable, now time.Time) {
	t.Helper()
	if fast.order.Len() != len(slow.all) || len(fast.swarms) != len(slow.totals) {
		t.Fatalf("%d members in %d swarms, want %d in %d",
			fast.order.Len(), len(fast.swarms), len(slow.all), len(slow.totals))
	}
	for key, s := range fast.swarms {
		if got, want := fast.scrape(now, []byte(key)).Clusters, slow.scrape(key); !reflect.DeepEqual(got, want) {
			t.Fatalf("scrape of %s: got %+v, want %+v", key, got, want)
		}
		want := slow.in(key)
		if len(s.members) != len(want) {
			t.Fatalf("%s has %d members, want %d", key, len(s.members), len(want))
		}
		for c := range s.all() {
			for rank, m := range c.members {
				if m.cluster != c {
					continue
				}
				w := want[0]
				want = want[1:]
				got, ok := c.rank(m.id)
				if m.id != w.id || c.name != w.cluster || m.cluster != c || got != rank || !ok || s.members[m.id] != m {
					t.Fatalf("%s in %s at rank %d, want %+v", m.id, c.name, rank, w)
				}
			}
		}
	}
}

// checkSums fails unless every group has the members whose clusters are in it, in order, and the swarm
// the right number of clusters.
func checkSums(t *testing.T, tb *table) {
	t.Helper()
	for _, s := range tb.swarms {
		clusters, nodes := 0, 0
		for c := range s.all() {
			clusters++
			nodes += c.nodes
		}
		if clusters != s.clusters || nodes != len(s.members) {
			t.Errorf("%d clusters of %d nodes, want %d of %d", clusters, nodes, s.clusters, len(s.members))
		}
		for _, m := range s.members {
			for g := m.cluster; g.parent != nil; g = g.parent {
				i, ok := g.rank(m.id)
				if !ok || g.members[i] != m || proto.SharedParts(g.name, m.cluster.name) != proto.ClusterParts(g.name) {
					t.Errorf("%s of %s is not in %s", m.id, m.cluster.name, g.name)
				}
			}
		}
	}
}

// A swarm may have more clusters than a message: they are added up by sites there.
func TestScrapeOfManyRacks(t *testing.T) {
	t.Parallel()
	s := racks(t, 30, 50, 1)
	tb := newTable(Default(nil))
	tb.swarms["s"] = s
	scrape := tb.scrape(epoch, []byte("s"))
	if len(scrape.Clusters) != 30 || scrape.Clusters[7].Name != "s007" || scrape.Clusters[7].Nodes != 50 || scrape.Clusters[7].Missing != 5000 {
		t.Errorf("%d clusters, %+v", len(scrape.Clusters), scrape.Clusters[7])
	}
	if err := proto.WriteMessage(io.Discard, scrape); err != nil {
		t.Error(err)
	}
	if o := s.copy().overview(1); len(o) != 30 || len(s.copy().overview(2)) != 1500 {
		t.Errorf("%d sites", len(o))
	}
}

func BenchmarkTableAnnounce(b *testing.B) {
	for _, size := range []struct{ clusters, each int }{{4, 4}, {20, 50}, {40, 500}, {1, 20000}} {
		b.Run(fmt.Sprintf("%dx%d", size.clusters, size.each), func(b *testing.B) {
			tb, ms := newSwarm(b, size.clusters, size.each)
			r := sampler{rng: rand.New(rand.NewPCG(1, 1))}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m := ms[i*7919%len(ms)]
				a := proto.Announce{Swarm: []byte("s"), Cluster: m.cluster.name, Have: 1, Total: 2}
				if _, err := tb.announce(epoch, origin{id: m.id, addrs: m.addrs, host: m.host}, &a); err != nil {
					b.Fatal(err)
				}
				r.replyMembers(m)
			}
		})
	}
}

// BenchmarkTableExpireAll is the slowest single call: all members of the largest swarm
// expire together.
func BenchmarkTableExpireAll(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		tb, _ := newSwarm(b, 1, 20000)
		b.StartTimer()
		tb.expire(epoch.Add(time.Hour))
		if tb.order.Len() != 0 {
			b.Fatal("members left")
		}
	}
}
