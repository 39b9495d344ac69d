package tracker

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/proto"
)

// newSwarm is a table with one swarm of equal clusters, and its members.
func newSwarm(t testing.TB, clusters, each int) (*table, []*member) {
	t.Helper()
	tb := newTable(Default(nil))
	rng := rand.New(rand.NewPCG(7, 7))
	var ms []*member
	for i := range each {
		for c := range clusters {
			id := fmt.Sprintf("%016x-%d-%d", rng.Uint64(), c, i)
			ms = append(ms, join(t, tb, epoch, "s", fmt.Sprintf("c%04d", c), id, 0, 100))
		}
	}
	return tb, ms
}

// checkReply fails on an invalid reply, and returns its members by cluster.
func checkReply(t *testing.T, m *member, out []proto.Member) map[string][]proto.PeerID {
	t.Helper()
	seen := map[proto.PeerID]bool{m.id: true}
	by := make(map[string][]proto.PeerID)
	for _, o := range out {
		if seen[o.ID] {
			t.Fatalf("duplicate or own id in the reply of %s: %s", m.id, o.ID)
		}
		seen[o.ID] = true
		if m.swarm.members[o.ID].cluster.name != o.Cluster {
			t.Fatalf("%s is not in %s", o.ID, o.Cluster)
		}
		by[o.Cluster] = append(by[o.Cluster], o.ID)
	}
	if _, err := proto.AppendFrame(nil, &proto.AnnounceReply{Interval: 30, Members: out}); err != nil {
		t.Fatal(err)
	}
	return by
}

func TestReplyOfSmallSwarm(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, size := range []struct{ clusters, each int }{{1, 1}, {1, 2}, {4, 4}, {4, 64}, {256, 1}, {1, 256}} {
		_, ms := newSwarm(t, size.clusters, size.each)
		for _, m := range ms {
			if out := (&sampler{rng: rng}).replyMembers(m); len(out) != len(ms)-1 {
				t.Fatalf("%d of %d other members in %+v", len(out), len(ms)-1, size)
			} else {
				checkReply(t, m, out)
			}
		}
	}
}

func TestReplyOfThousandMembers(t *testing.T) {
	t.Parallel()
	_, ms := newSwarm(t, 20, 50)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, m := range ms {
		by := checkReply(t, m, (&sampler{rng: rng}).replyMembers(m))
		if len(by[m.cluster.name]) != 49 {
			t.Fatalf("%d members of the announcer's cluster", len(by[m.cluster.name]))
		}
		checkMatches(t, m, by, spares)
	}
}

// TestReplyBoundsSitesOfOneAddress checks that a reply has few of the sites that nodes at one address make up, unless the
// announcer is at that address, or it is a loopback address. Other sites are as without them.
func TestReplyBoundsSitesOfOneAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host string
		most int
	}{{"192.0.2.66", maxHostSites}, {"127.0.0.1", 100}} {
		tb, ms := newSwarm(t, 20, 50)
		host := netip.MustParseAddr(c.host)
		var flooder *member
		for i := range 300 {
			var err error
			a := &proto.Announce{Swarm: []byte("s"), Cluster: fmt.Sprint("flood", i%100), Total: 10}
			if flooder, err = tb.announce(epoch, origin{id: proto.PeerID(fmt.Sprint("flooder", i)), host: host}, a); err != nil {
				t.Fatal(err)
			}
		}
		sites := func(m *member, rng *rand.Rand) (n int) {
			by := checkReply(t, m, (&sampler{rng: rng}).replyMembers(m))
			for site := range by {
				if strings.HasPrefix(site, "flood") {
					n++
				}
			}
			if honest := len(by) - n; honest != 20 {
				t.Fatalf("%d other sites", honest)
			}
			return n
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for _, m := range ms[:100] {
			if n := sites(m, rng); n != c.most {
				t.Fatalf("%d sites at %s", n, host)
			}
		}
		if n := sites(flooder, rng); n != 100 {
			t.Errorf("%d of 100 sites at the address of the announcer", n)
		}
	}
}

func TestReplyOfUnequalClusters(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5 {
		tb := newTable(Default(nil))
		var ms []*member
		for c := range 2 + rng.IntN(6) {
			for i := range 1 + rng.IntN(150) {
				id := fmt.Sprintf("%x-%d-%d", rng.Uint64(), c, i)
				ms = append(ms, join(t, tb, epoch, "s", fmt.Sprint("c", c), id, 0, 0))
			}
		}
		for _, m := range ms {
			by := checkReply(t, m, (&sampler{rng: rng}).replyMembers(m))
			if len(by[m.cluster.name]) != len(m.cluster.members)-1 {
				t.Fatal("the own cluster is not complete")
			}
			want := spares
			if len(ms) <= smallSwarm {
				want = len(ms)
			}
			checkMatches(t, m, by, want)
		}
	}
}

// checkMatches checks that by has, of every other cluster, the members that match
// m's rank, and the given number of spares.
func checkMatches(t *testing.T, m *member, by map[string][]proto.PeerID, spares int) {
	t.Helper()
	rank, _ := m.cluster.rank(m.id)
	for c := range m.swarm.all() {
		if c == m.cluster {
			continue
		}
		first, end := ranks.Matches(rank, len(m.cluster.members), len(c.members))
		for r := first; r < end; r++ {
			if !slices.Contains(by[c.name], c.members[r].id) {
				t.Fatalf("the reply of rank %d of %s is missing rank %d of %s", rank, m.cluster.name, r, c.name)
			}
		}
		if want := min(end-first+spares, len(c.members)); len(by[c.name]) != want {
			t.Fatalf("%d members of %s, want %d", len(by[c.name]), c.name, want)
		}
	}
}

func TestReplyOfLargeCluster(t *testing.T) {
	t.Parallel()
	_, ms := newSwarm(t, 2, 600)
	rng := rand.New(rand.NewPCG(1, 1))
	inbound := make(map[proto.PeerID]int)
	for _, m := range ms[0].cluster.members {
		by := checkReply(t, m, (&sampler{rng: rng}).replyMembers(m))
		own := by[m.cluster.name]
		if len(own) != maxLocal {
			t.Fatalf("%d members of the announcer's cluster, want %d", len(own), maxLocal)
		}
		rank, _ := m.cluster.rank(m.id)
		size := len(m.cluster.members)
		for d := 1; d <= neighbors; d++ {
			for _, r := range []int{(rank + d) % size, (rank + size - d) % size} {
				if !slices.Contains(own, m.cluster.members[r].id) {
					t.Fatalf("the reply of rank %d is missing its neighbor %d", rank, r)
				}
			}
		}
		for _, id := range own {
			inbound[id]++
		}
	}
	for id, n := range inbound {
		if n < maxLocal*3/4 || n > maxLocal*5/4 {
			t.Errorf("%s is in %d replies, want about %d", id, n, maxLocal)
		}
	}
}

func TestReplyOfManyClusters(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	_, ms := newSwarm(t, 1000, 10)
	for _, m := range ms[:50] {
		by := checkReply(t, m, (&sampler{rng: rng}).replyMembers(m))
		if len(by) != 1000 {
			t.Errorf("the reply has %d clusters, want 1000", len(by))
		}
	}
	// A large own cluster leaves room for less than one member of each other cluster.
	tb := newTable(Default(nil))
	for i := range 600 {
		join(t, tb, epoch, "s", "own", fmt.Sprint("own", i), 0, 0)
	}
	for i := range 1000 {
		join(t, tb, epoch, "s", fmt.Sprint("c", i), fmt.Sprint("other", i), 0, 0)
	}
	m := tb.swarms["s"].members["own5"]
	first, second := checkReply(t, m, (&sampler{rng: rng}).replyMembers(m)), checkReply(t, m, (&sampler{rng: rng}).replyMembers(m))
	if len(first) != proto.MaxMembers-maxLocal+1 {
		t.Errorf("the reply has %d clusters", len(first))
	}
	for name := range second {
		first[name] = nil
	}
	if len(first) < 700 {
		t.Errorf("two replies have %d clusters together: the samples are too similar", len(first))
	}
}

// racks has members join racks of sites: each rack has n.
func racks(t testing.TB, sites, racks, each int) *swarm {
	t.Helper()
	cfg := Default(nil)
	tb := newTable(cfg)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range each {
		for s := range sites {
			for r := range racks {
				id := fmt.Sprintf("%016x-%d-%d-%d", rng.Uint64(), s, r, i)
				join(t, tb, epoch, "s", fmt.Sprintf("s%03d/r%03d", s, r), id, 0, 100)
			}
		}
	}
	return tb.swarms["s"]
}

// A reply has the own rack, the rest of the site, and of each other site who matches the rank within
// the site.
func TestReplyOfRacks(t *testing.T) {
	t.Parallel()
	s, rng := racks(t, 20, 5, 20), rand.New(rand.NewPCG(1, 1))
	for _, m := range slices.Collect(maps.Values(s.members))[:100] {
		out := (&sampler{rng: rng}).replyMembers(m)
		by := checkReply(t, m, out)
		if got := len(by[m.cluster.name]); got != 19 {
			t.Fatalf("%d members of the own rack", got)
		}
		for i, o := range out[:99] {
			if want := 1 + btoi(i < 19); proto.SharedParts(m.cluster.name, o.Cluster) != want {
				t.Fatalf("member %d of the reply is of %s, for %s", i, o.Cluster, m.cluster.name)
			}
		}
		checkSites(t, m, out)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkSites checks that a reply has the members of every other site that match m's rank in its own.
func checkSites(t *testing.T, m *member, out []proto.Member) {
	t.Helper()
	site := m.swarm.find(proto.ClusterGroup(m.cluster.name, 1))
	rank, _ := site.rank(m.id)
	for _, other := range m.swarm.root.subs {
		if other == site {
			continue
		}
		first, end := ranks.Matches(rank, len(site.members), len(other.members))
		for _, match := range other.members[first:end] {
			if !slices.ContainsFunc(out, func(o proto.Member) bool { return o.ID == match.id }) {
				t.Fatalf("the reply of rank %d of %s is missing %s", rank, site.name, match.id)
			}
		}
	}
}

// A thousand racks in a site leave room for other sites, and each of them is in the reply of some of a sample.
func TestReplyOfThousandRacks(t *testing.T) {
	t.Parallel()
	s, rng := racks(t, 1, 1000, 3), rand.New(rand.NewPCG(1, 1))
	for i := range 6 {
		id := proto.PeerID(fmt.Sprint("far", i))
		s.add(&member{id: id, swarm: s}, fmt.Sprint("far", i))
	}
	inbound := map[string]int{}
	members := s.root.subs[len(s.root.subs)-1].members
	for i := 0; i < len(members); i += 20 {
		m := members[i]
		out := (&sampler{rng: rng}).replyMembers(m)
		by := checkReply(t, m, out)
		if len(by[m.cluster.name]) != 2 {
			t.Fatalf("%d members of the own rack", len(by[m.cluster.name]))
		}
		checkSites(t, m, out)
		if len(by) < 400 {
			t.Fatalf("the reply has %d racks", len(by))
		}
		for name := range by {
			inbound[name]++
		}
	}
	if len(inbound) != 1006 {
		t.Errorf("%d racks and sites are in replies", len(inbound))
	}
}

// Names may be prefixes of other names, and sort between them.
func TestReplyOfPrefixes(t *testing.T) {
	t.Parallel()
	tb, rng := newTable(Default(nil)), rand.New(rand.NewPCG(1, 1))
	names := []string{"a", "a/b", "a/b/c", "a/b/c/d", "a-b", "a.b/c", "ab", "b/b"}
	var ms []*member
	for i := range 400 {
		ms = append(ms, join(t, tb, epoch, "s", names[i%len(names)], fmt.Sprintf("%03d", i*7919%1000), 0, 10))
	}
	s := tb.swarms["s"]
	for range 3 {
		for _, m := range ms {
			out := (&sampler{rng: rng}).replyMembers(m)
			checkReply(t, m, out)
			checkSites(t, m, out)
			near := 0 // the site's come first
			for i, o := range out {
				if shared := proto.SharedParts(m.cluster.name, o.Cluster); shared > 0 {
					if near++; near != i+1 {
						t.Fatalf("%s: member %d is of %s", m.cluster.name, i, o.Cluster)
					}
				}
			}
			if site := s.find(proto.ClusterGroup(m.cluster.name, 1)); near != len(site.members)-1 {
				t.Fatalf("%s: %d of %d members of the site", m.cluster.name, near, len(site.members)-1)
			}
		}
		for i, m := range ms { // they change their racks
			join(t, tb, epoch, "s", names[(i/3+i)%len(names)], string(m.id), 0, 10)
		}
		checkSums(t, tb)
	}
	for _, m := range ms {
		tb.leave(epoch, []byte("s"), m.id)
	}
	if len(s.root.subs) != 0 || s.clusters != 0 {
		t.Errorf("left behind: %d sites, %d clusters", len(s.root.subs), s.clusters)
	}
}

// A reply of members with the longest ids, clusters and addresses fits one frame.
func TestReplyFitsFrame(t *testing.T) {
	t.Parallel()
	tb, rng := newTable(Default(nil)), rand.New(rand.NewPCG(1, 1))
	addrs := make([][]byte, proto.MaxAddrs)
	for i := range addrs {
		addrs[i] = make([]byte, maxAddrBytes/len(addrs))
	}
	var m *member
	for i := range 2 * proto.MaxMembers {
		id := fmt.Appendf(nil, "%d", i)
		id = append(id, bytes.Repeat([]byte{'.'}, proto.MaxPeerID-len(id))...)
		cluster := fmt.Appendf(nil, "%d", i%10)
		cluster = append(cluster, bytes.Repeat([]byte{'.'}, proto.MaxCluster-len(cluster))...)
		var err error
		a := &proto.Announce{Swarm: []byte("s"), Cluster: string(cluster)}
		m, err = tb.announce(epoch, origin{id: proto.PeerID(id), addrs: addrs, host: elsewhere(proto.PeerID(id), "s").host}, a)
		if err != nil {
			t.Fatal(err)
		}
	}
	m.swarm.remove(m) // a small own cluster leaves room for most other nodes
	m.swarm.add(m, "small")
	out := (&sampler{rng: rng}).replyMembers(m)
	if len(out) != proto.MaxMembers {
		t.Errorf("%d members, want %d", len(out), proto.MaxMembers)
	}
	checkReply(t, m, out)
}

func TestSequenceIsPermutation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		s := newSequence(n, rng)
		seen := make([]bool, n)
		for k := range n {
			if i := s.at(k); seen[i] {
				t.Fatalf("n %d: %d occurs twice", n, i)
			} else {
				seen[i] = true
			}
		}
	}
}

func TestSequencePrefixesAreEven(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{100, 1000, 4096, 20000} {
		for _, take := range []int{4, 16, 64} {
			s := newSequence(n, rng)
			at := make([]int, take)
			for k := range take {
				at[k] = s.at(k)
			}
			slices.Sort(at)
			widest := at[0] + n - at[take-1]
			for i := 1; i < take; i++ {
				widest = max(widest, at[i]-at[i-1])
			}
			if widest > 3*n/take {
				t.Errorf("the first %d of %d have a gap of %d, want about %d", take, n, widest, n/take)
			}
		}
	}
}
