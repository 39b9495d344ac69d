package tracker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// topologyLink returns a link of a table, the zero link if it is not known.
func topologyLink(tb *table, from, to string) (out proto.TopologyLink) {
	for _, l := range tb.swarm(tb.now, []byte("s")).makeTopology().Links {
		if l.From == from && l.To == to {
			out = l
		}
	}
	return out
}

// Members of a cluster report at different times what they received in windows of different lengths, and the
// tracker adds up the same seconds.
func TestRatesAddUp(t *testing.T) {
	t.Parallel()
	tb, rng := newTable(Default(nil)), rand.New(rand.NewPCG(4, 4))
	const members, rate = 5, 3e6 // of all together, while they receive
	join(t, tb, epoch, "s", "A", "source", 10, 10)
	for i := range members {
		join(t, tb, epoch, "s", "B", fmt.Sprint("b", i), 0, 10)
	}
	from, to := epoch.Add(2*time.Second), epoch.Add(40*time.Second)
	share := func(i int, a, b time.Time) uint32 { // the bytes that a member receives from a to b
		a, b = later(a, from), earlier(b, to)
		part := rate * float64(2*(i+1)) / (members * (members + 1))
		return uint32(max(b.Sub(a).Seconds(), 0) * part)
	}
	at := slices.Repeat([]time.Time{epoch}, members)
	windows, bytes := make([][]uint32, members), make([][]uint32, members)
	for slices.MinFunc(at, time.Time.Compare).Before(to) {
		i := rng.IntN(members)
		next := at[i].Add(time.Duration(1000+rng.IntN(400)) * time.Millisecond)
		windows[i] = append(windows[i], uint32(next.Sub(at[i]).Milliseconds()))
		bytes[i] = append(bytes[i], share(i, at[i], next))
		at[i] = next
		if len(windows[i]) < 5+rng.IntN(8) {
			continue
		}
		now := later(tb.now, next.Add(300*time.Millisecond))
		tb.measured(now, proto.PeerID(fmt.Sprint("b", i)), []byte("s"), &proto.Measured{
			Ago: uint32(now.Sub(next).Milliseconds()), Windows: windows[i],
			Links: []proto.MeasuredLink{{Cluster: "A", Bytes: bytes[i], Queue: slices.Repeat([]uint32{fullQueue}, len(bytes[i]))}},
		})
		windows[i], bytes[i] = nil, nil
	}
	if l := topologyLink(tb, "A", "B"); math.Abs(float64(l.Rate)/rate-1) > 0.03 || !l.Full {
		t.Errorf("%+v, want %.0f", l, float64(rate))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// addMeasurement reports the payload that a member received from a cluster in the last windows of a second.
func addMeasurement(tb *table, now time.Time, id, from string, queue uint32, bytes ...uint32) {
	tb.measured(now, proto.PeerID(id), []byte("s"), &proto.Measured{
		Windows: slices.Repeat([]uint32{1000}, len(bytes)),
		Links: []proto.MeasuredLink{{
			Cluster: from, RTT: 20_000, Sent: 100, Lost: 1, Bytes: bytes, Queue: slices.Repeat([]uint32{queue}, len(bytes)),
		}},
	})
}

// The highest rate is kept, however long ago it was, and a link is full if it carried about as much while
// messages queued all the time.
func TestFullLinks(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	announce := func(at time.Time) {
		join(t, tb, at, "s", "A", "a", 10, 10)
		join(t, tb, at, "s", "B", "b", 0, 10)
	}
	announce(epoch)
	check := func(rate uint64, full bool) {
		t.Helper()
		if l := topologyLink(tb, "A", "B"); l.Rate != rate || l.Full != full {
			t.Errorf("%+v, want a rate of %d, full %v", l, rate, full)
		}
	}
	now := epoch.Add(10 * time.Second)
	addMeasurement(tb, now, "b", "A", 0, 1000, 1000, 1000)
	check(1000, false)
	now = now.Add(10 * time.Second)
	addMeasurement(tb, now, "b", "A", fullQueue, 970, 970, 970)
	check(1000, true)
	now = now.Add(10 * time.Second)
	addMeasurement(tb, now, "b", "A", 0, 1100, 1100, 1100)
	check(1100, false)
	for range 20 {
		now = now.Add(20 * time.Second)
		announce(now)
		addMeasurement(tb, now, "b", "A", fullQueue, 5, 5, 5)
	}
	check(1100, false)
	if l := topologyLink(tb, "B", "A"); l.Rate != 0 || l.Sent != 2300 || l.Lost != 23 {
		t.Errorf("the other way: %+v", l)
	}
	if l := topologyLink(tb, "A", "B"); l.RTT != 20_000 || l.Sent != 0 {
		t.Errorf("%+v", l)
	}
	now = now.Add(time.Hour)
	addMeasurement(tb, now, "b", "A", 0, 7, 7, 7) // it has expired
	if tb.swarm(now, []byte("s")) != nil || tb.links.Used() != 0 {
		t.Errorf("%d links of swarms that expired", tb.links.Used())
	}
}

// Racks have links to their sites, over which all goes that comes from elsewhere.
func TestLinksOfRacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"l", "g", "[{l g}]"},
		{"l/1", "g", "[{l g}]"},
		{"l", "g/1", "[{l g} {g g/1}]"},
		{"g/2", "g/1", "[{g/2 g} {g g/1}]"},
		{"g", "g/1", "[{g g/1}]"},
		{"g/1", "g", "[{g/1 g}]"},
		{"g/1/x", "g/2/y", "[{g/1 g} {g g/2} {g/2 g/2/y}]"},
		{"g/1/x", "g/1/y", "[{g/1/x g/1} {g/1 g/1/y}]"},
		{"g/1", "g/1", "[]"},
	} {
		if got := fmt.Sprint(ways(c.from, c.to)); got != c.want {
			t.Errorf("from %s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
	tb := newTable(Default(nil))
	join(t, tb, epoch, "s", "l", "l", 10, 10)
	for _, id := range []string{"g/1", "g/2"} {
		join(t, tb, epoch, "s", id, id, 0, 10)
	}
	now := epoch.Add(10 * time.Second)
	addMeasurement(tb, now, "g/1", "l", 0, 60, 60, 60)
	addMeasurement(tb, now, "g/2", "l", 0, 40, 40, 40)
	addMeasurement(tb, now, "g/1", "g/2", 0, 40, 40, 40)
	for _, c := range []struct {
		from, to string
		rate     uint64
	}{{"l", "g", 100}, {"g", "g/1", 100}, {"g", "g/2", 40}, {"g/2", "g", 40}} {
		if l := topologyLink(tb, c.from, c.to); l.Rate != c.rate {
			t.Errorf("from %s to %s: %+v, want a rate of %d", c.from, c.to, l, c.rate)
		}
	}
}

// TestLinksOfForgottenClusters checks that links go with the last member of a group at either end, so that a member that
// changes its cluster again and again does not take the room of links.
func TestLinksOfForgottenClusters(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	for _, name := range []string{"l", "g/1", "g/2", "gx"} {
		join(t, tb, epoch, "s", name, name, 10, 10)
	}
	addMeasurement(tb, epoch.Add(10*time.Second), "g/1", "l", 0, 5)
	addMeasurement(tb, epoch.Add(10*time.Second), "gx", "l", 0, 5)
	own := tb.links.Used()
	for i := range 3000 {
		join(t, tb, epoch, "s", fmt.Sprint("eve", i), "eve", 10, 10)
		for _, from := range []string{"l", "g/1", "gx"} {
			addMeasurement(tb, epoch.Add(10*time.Second), "eve", from, 0, 5)
		}
	}
	check := func(what string, want int) {
		t.Helper()
		if n := len(tb.swarms["s"].links); n != want || tb.links.Used() != n {
			t.Errorf("%s: %d links of the swarm, %d of the table, want %d: %v", what, n, tb.links.Used(), want, tb.swarms["s"].links)
		}
	}
	check("one of 3000 names is left", own+5) // from three sites, and to two: the way to g/1 ends with a link in its site
	tb.leave(tb.now, []byte("s"), "eve")
	check("without it", own)
	tb.leave(tb.now, []byte("s"), "g/1")
	check("without a rack", own-1)
	tb.leave(tb.now, []byte("s"), "g/2")
	if s := tb.swarms["s"]; s.links[direction{"l", "gx"}] == nil || s.links[direction{"l", "g"}] != nil {
		t.Errorf("links of the site that is left, and not of the other: %v", s.links)
	}
}

// TestTopologyLockTime checks that naming and sorting, which take most of the time of a topology, are not done with
// the table, and that a topology is computed once in a second.
func TestTopologyLockTime(t *testing.T) {
	t.Parallel()
	tb, _ := newSwarm(t, 64, 16)
	sw := tb.swarms["s"]
	for a := range sw.all() {
		for b := range sw.all() {
			host := elsewhere(proto.PeerID(a.name+b.name), "s").host
			if l := tb.link(sw, direction{a.name, b.name}, host); l != nil {
				l.addWindows(1e9, []uint32{1000}, &proto.MeasuredLink{Bytes: []uint32{7}, Queue: []uint32{0}})
			}
		}
	}
	if len(sw.links) != maxSwarmLinks || len(sw.members) != proto.MaxMembers {
		t.Fatalf("%d links, %d members", len(sw.links), len(sw.members))
	}
	locked, free := time.Hour, time.Hour
	for range 20 {
		at := time.Now()
		top := tb.swarm(epoch, []byte("s")).makeTopology()
		done := time.Now()
		finishTopology(top)
		locked, free = min(locked, done.Sub(at)), min(free, time.Since(done))
	}
	t.Logf("%v with the lock, %v without", locked, free)
	if 2*locked > free {
		t.Errorf("%v with the lock, %v without", locked, free)
	}
	kept := func(after time.Duration) *proto.Topology { return tb.keptTopology(epoch.Add(after), []byte("s"))() }
	first := kept(0)
	if kept(topologyAge-1) != first || kept(topologyAge) == first {
		t.Error("a topology is not kept for a second")
	}
}

// TestMeasuredLockTime checks that windows of a minute, where a link remembers the last, take no more time than short ones.
func TestMeasuredLockTime(t *testing.T) {
	t.Parallel()
	took := func(window uint32) time.Duration {
		ml := &proto.MeasuredLink{Bytes: slices.Repeat([]uint32{7}, proto.MaxWindows), Queue: make([]uint32, proto.MaxWindows)}
		windows := slices.Repeat([]uint32{window}, proto.MaxWindows)
		l := new(link)
		at := time.Now()
		l.addWindows(1e9, windows, ml)
		return time.Since(at)
	}
	long, short := time.Hour, time.Hour
	for range 100 { // in turn, so that both meet the same load
		long, short = min(long, took(60_000)), min(short, took(1500))
	}
	t.Logf("%v for long windows, %v for short ones", long, short)
	if long > 3*short {
		t.Errorf("%v for long windows, %v for short ones", long, short)
	}
}

// A member with wrong values makes no more links than there is room for, none to clusters that are not there, and
// no figure that a message cannot bear.
func TestWrongLinks(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	for i := range 300 {
		join(t, tb, epoch, "s", fmt.Sprintf("c%03d", i), fmt.Sprint(i), 10, 10)
	}
	most := slices.Repeat([]uint32{math.MaxUint32}, proto.MaxWindows)
	for i := range 300 {
		for j := range 300 / proto.MaxMeasured {
			m := &proto.Measured{Ago: uint32(i * 1e7), Windows: slices.Repeat([]uint32{1}, proto.MaxWindows)}
			for k := range proto.MaxMeasured {
				m.Links = append(m.Links, proto.MeasuredLink{
					Cluster: fmt.Sprintf("c%03d", j*proto.MaxMeasured+k), Sent: math.MaxUint32, Lost: math.MaxUint32, Bytes: most, Queue: most,
				})
			}
			m.Links[0].Cluster = "nowhere"
			tb.measured(epoch, proto.PeerID(fmt.Sprint(i)), []byte("s"), m)
			tb.measured(epoch, "stranger", []byte("s"), m)
			tb.measured(epoch, proto.PeerID(fmt.Sprint(i)), []byte("unknown"), m)
		}
	}
	top := tb.swarm(epoch, []byte("s")).makeTopology()
	finishTopology(top)
	if n := len(top.Links); n < maxSwarmLinks-10 || n > maxSwarmLinks || len(top.Hosts) != 300 || tb.links.Used() != n {
		t.Errorf("%d links, %d hosts, %d links of the table", n, len(top.Hosts), tb.links.Used())
	}
	if _, err := proto.AppendFrame(nil, top); err != nil {
		t.Error(err)
	}
}

// TestLinksOfOneAddress checks that nodes at one address hold at most half of a swarm's links, and of all links.
func TestLinksOfOneAddress(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	host := netip.MustParseAddr("192.0.2.66")
	for k := range 20 {
		swarm := fmt.Sprint("s", k)
		for i := range 100 {
			a := &proto.Announce{Swarm: []byte(swarm), Cluster: fmt.Sprint("c", i), Total: 10}
			if _, err := tb.announce(epoch, origin{id: proto.PeerID(fmt.Sprint(i)), host: host}, a); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 100 {
			m := &proto.Measured{Windows: []uint32{1000}}
			for c := range proto.MaxMeasured {
				m.Links = append(m.Links, proto.MeasuredLink{Cluster: fmt.Sprint("c", c), Bytes: []uint32{1}, Queue: []uint32{0}, Sent: 1})
			}
			tb.measured(epoch, proto.PeerID(fmt.Sprint(i)), []byte(swarm), m)
		}
		if n := len(tb.swarms[swarm].links); n > maxSwarmLinks/2 {
			t.Fatalf("%d links of a swarm", n)
		}
	}
	if tb.links.Used() != maxLinks/2 {
		t.Errorf("%d links", tb.links.Used())
	}
	join(t, tb, epoch, "s0", "g", "g", 10, 10)
	tb.measured(epoch, "g", []byte("s0"), &proto.Measured{
		Windows: []uint32{1000}, Links: []proto.MeasuredLink{{Cluster: "c0", Bytes: []uint32{1}, Queue: []uint32{0}, Sent: 1}},
	})
	if links := tb.swarms["s0"].links; links[direction{"c0", "g"}] == nil || links[direction{"g", "c0"}] == nil {
		t.Error("no room for links of a node at another address")
	}
}

// Members report measurements after their announces, and any node may request them.
func TestMeasuredLinksInTopology(t *testing.T) {
	t.Parallel()
	s, info := start(t, Default(nil), new(clock))
	hA, cA := node(t, ClientConfig{}, info)
	hB, cB := node(t, ClientConfig{}, info)
	if _, err := cA.Topology(t.Context(), announce(hA, "A", 1).Swarm); err == nil {
		t.Error("there is a topology of an unknown swarm")
	}
	for _, received := range []*proto.Received{nil, {Length: 10, WAN: 5, Flows: []proto.Flow{{Cluster: "A", Bytes: 5}}}} {
		if _, err := cA.Announce(t.Context(), announce(hA, "A", 1)); err != nil {
			t.Fatal(err)
		}
		a := announce(hB, "B", 1)
		a.Received = received
		a.Measured = &proto.Measured{Windows: []uint32{1000, 1000, 1000}, Links: []proto.MeasuredLink{
			{Cluster: "A", RTT: 7, Bytes: []uint32{900, 900, 900}, Queue: []uint32{0, 0, 0}},
		}}
		if _, err := cB.Announce(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a link is known", func() bool { // the reply precedes the report
			s.state.Lock()
			defer s.state.Unlock()
			return s.state.table.links.Used() == 1
		})
		top, err := cA.Topology(t.Context(), a.Swarm)
		if err != nil {
			t.Fatal(err)
		}
		if len(top.Hosts) != 2 || top.Hosts[1].Name != hB.ID().String() || top.Hosts[1].Cluster != "B" ||
			len(top.Links) != 1 || top.Links[0].Rate != 900 || top.Links[0].RTT != 7 {
			t.Errorf("%+v", top)
		}
		s.state.Lock()
		s.state.table = newTable(s.cfg)
		s.state.Unlock()
	}
}
