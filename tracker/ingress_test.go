package tracker

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// flowsOf formats the flows of a cluster.
func flowsOf(o *Overview, cluster string) string {
	for _, c := range o.Clusters {
		if c.Name == cluster {
			return fmt.Sprintf("%.2f %v", c.Copies, c.Flows)
		}
	}
	return "none"
}

// Members report received bytes after their announces, and the tracker adds it up by clusters.
func TestOverviewFlows(t *testing.T) {
	t.Parallel()
	clk := new(clock)
	s, info := start(t, Default(nil), clk)
	hA, cA := node(t, ClientConfig{}, info)
	hB, cB := node(t, ClientConfig{}, info)
	hC, cC := node(t, ClientConfig{}, info)
	tell := func(c *Client, a *proto.Announce, r *proto.Received) {
		t.Helper()
		a.Received = r
		if _, err := c.Announce(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want string) {
		t.Helper()
		eventually(t, "the flows are "+want, func() bool { return flowsOf(s.Overview(nil), "B") == want })
	}
	received := func(wan, lan uint64) *proto.Received {
		return &proto.Received{Length: 1000, WAN: wan, Flows: []proto.Flow{{Cluster: "A", Bytes: wan}, {Cluster: "B", Bytes: lan}}}
	}
	tell(cA, announce(hA, "A", 10), nil)
	tell(cB, announce(hB, "B", 0), nil)
	expect("0.00 []")
	tell(cB, announce(hB, "B", 5), received(250, 100))
	expect("0.25 [{A 250 0} {B 100 0}]")
	tell(cC, announce(hC, "B", 5), received(250, 0))
	expect("0.50 [{A 500 0} {B 100 0}]")
	clk.add(10 * time.Second)
	tell(cB, announce(hB, "B", 10), received(550, 400))
	expect("0.80 [{A 800 30} {B 400 30}]")
	// One that moves to another cluster, or leaves, takes its ingress along.
	tell(cC, announce(hC, "C", 5), nil)
	expect("0.55 [{A 550 30} {B 400 30}]")
	leaving := announce(hB, "B", 10)
	leaving.Leaving = true
	tell(cC, announce(hC, "B", 5), nil)
	tell(cB, leaving, received(550, 400))
	expect("0.00 []")
}

// A tracker of an older version reads the announce only. The member gets its reply all the same.
func TestOldTrackerIgnoresReceived(t *testing.T) {
	t.Parallel()
	old := loopHost(t)
	old.SetStreamHandler(proto.TrackerProtocol, func(st network.Stream) {
		if _, err := proto.ReadOpening(st); err != nil {
			t.Error(err)
		}
		if err := proto.WriteMessage(st, &proto.AnnounceReply{Interval: 30}); err != nil {
			t.Error(err)
		}
		st.Close()
	})
	h, c := node(t, ClientConfig{}, peer.AddrInfo{ID: old.ID(), Addrs: old.Addrs()})
	for range 20 {
		a := announce(h, "A", 1)
		a.Received = &proto.Received{Length: 10, WAN: 1, Flows: []proto.Flow{{Cluster: "B", Bytes: 1}}}
		a.Measured = &proto.Measured{Links: []proto.MeasuredLink{{Cluster: "B", RTT: 1}}}
		if _, err := c.Announce(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// A member that never closes its side, or sends something else there, has its reply.
func TestAnnounceThatGoesOn(t *testing.T) {
	t.Parallel()
	cfg := Default(nil)
	cfg.Timeout = 2 * time.Second
	s, info := start(t, cfg, new(clock))
	h := loopHost(t)
	for _, more := range []proto.Message{nil, &proto.Ping{Nonce: 1}, announce(h, "B", 2)} {
		frame, err := proto.AppendFrame(nil, announce(h, "A", 1))
		if err == nil && more != nil {
			frame, err = proto.AppendFrame(frame, more)
		}
		if err != nil {
			t.Fatal(err)
		}
		st := raw(t, h, info, frame)
		if _, err := proto.ReadMessage(st); err != nil {
			t.Errorf("%T: %v", more, err)
		}
	}
	waitStreams(t, s, 0)
	if o := s.Overview(nil); len(o.Clusters) != 1 || o.Clusters[0].Name != "A" {
		t.Errorf("the tracker knows %+v", o.Clusters)
	}
}

// Wrong values change the sums of the member's cluster only, by no more than sums can bear, and takes them along.
func TestWrongFlows(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	for i := range 30 {
		join(t, tb, epoch, "s", fmt.Sprintf("c%02d", i), fmt.Sprint("honest ", i), 10, 10)
	}
	lie := &proto.Received{Length: 1, WAN: math.MaxUint64}
	for i := range 30 {
		lie.Flows = append(lie.Flows, proto.Flow{Cluster: fmt.Sprintf("c%02d", i), Bytes: math.MaxUint64 - uint64(i)})
	}
	for i := range 40 {
		lie.Flows = append(lie.Flows, proto.Flow{Cluster: fmt.Sprintf("nowhere %d", i), Bytes: math.MaxUint64})
	}
	for i := range 1000 {
		id := proto.PeerID(fmt.Sprint("liar ", i))
		join(t, tb, epoch, "s", "c00", string(id), 0, 10)
		tb.received(epoch, id, []byte("s"), lie)
		tb.received(epoch.Add(time.Nanosecond), id, []byte("s"), lie)
		tb.received(epoch, id, []byte("unknown"), lie)
	}
	tb.received(epoch, "stranger", []byte("s"), lie)
	all := tb.swarms["s"].copy().overview(proto.MaxClusterParts)
	for _, c := range all[1:] {
		if c.Copies != 0 || len(c.Flows) != 0 {
			t.Errorf("%s has %+v", c.Name, c)
		}
	}
	if first := all[0]; len(first.Flows) != maxMemberFlows || first.Copies != 1000*maxBytes || first.Flows[5].Bytes != 1000*maxBytes {
		t.Errorf("their cluster has %d flows, %g copies", len(first.Flows), first.Copies)
	}
	for i := range 1000 {
		tb.leave(epoch, []byte("s"), proto.PeerID(fmt.Sprint("liar ", i)))
	}
	if first := tb.swarms["s"].copy().overview(proto.MaxClusterParts)[0]; first.Copies != 0 || len(first.Flows) != 0 {
		t.Errorf("after they left: %+v", first)
	}
}

// Copies are reported for sites and for their racks.
func TestCopiesOfRacks(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	for _, id := range []string{"g/1", "g/2", "l/1"} {
		join(t, tb, epoch, "s", id, "first of "+id, 0, 10)
		join(t, tb, epoch, "s", id, "second of "+id, 0, 10)
	}
	tell := func(id string, wan uint64, flows ...proto.Flow) {
		tb.received(epoch, proto.PeerID(id), []byte("s"), &proto.Received{Length: 100, WAN: wan, Flows: flows})
	}
	tell("first of g/1", 60, proto.Flow{Cluster: "g/1", Bytes: 35}, proto.Flow{Cluster: "g/2", Bytes: 5}, proto.Flow{Cluster: "l", Bytes: 60})
	tell("second of g/1", 0, proto.Flow{Cluster: "g", Bytes: 5}, proto.Flow{Cluster: "g/1", Bytes: 65}, proto.Flow{Cluster: "g/2", Bytes: 30})
	tell("first of g/2", 40, proto.Flow{Cluster: "g/1", Bytes: 60}, proto.Flow{Cluster: "l", Bytes: 40})
	s := tb.swarms["s"]
	if got := s.copy().overview(proto.MaxClusterParts); got[0].Copies != 1 || got[1].Copies != 1 || got[2].Copies != 0 {
		t.Errorf("into racks: %+v", got)
	}
	sites := s.copy().overview(1)
	if sites[0].Copies != 1 || sites[0].Nodes != 4 || fmt.Sprint(sites[0].Flows) != "[{g 200 0} {l 100 0}]" {
		t.Errorf("into sites: %+v", sites)
	}
}

// A node that needs many more pieces than average is a straggler.
func TestStragglers(t *testing.T) {
	t.Parallel()
	tb := newTable(Default(nil))
	for i := range 4 {
		join(t, tb, epoch, "s", "A", fmt.Sprint("a", i), 100, 100)
		join(t, tb, epoch, "s", "B", fmt.Sprint("b", i), 10, 100)
		join(t, tb, epoch, "s", "C", fmt.Sprint("c", i), 12, 100)
	}
	named := func() (out string) {
		for _, c := range tb.swarms["s"].copy().overview(proto.MaxClusterParts) {
			for _, s := range c.Stragglers {
				out += fmt.Sprintf("%s %d/%d ", s.ID, s.Have, s.Total)
			}
		}
		return out
	}
	if got := named(); got != "" {
		t.Errorf("at the start: %s", got)
	}
	for i := range 4 {
		join(t, tb, epoch, "s", "B", fmt.Sprint("b", i), 99, 100)
		join(t, tb, epoch, "s", "C", fmt.Sprint("c", i), 100, 100)
	}
	if got := named(); got != "" {
		t.Errorf("at the end: %s", got)
	}
	join(t, tb, epoch, "s", "B", "b2", 40, 100)
	join(t, tb, epoch, "s", "C", "c1", 0, 0)
	want := fmt.Sprintf("%s 40/100 %s 0/0 ", peer.ID("b2"), peer.ID("c1"))
	if got := named(); got != want {
		t.Errorf("with two far behind: %s", got)
	}
}

// TestOverviewLockTime checks that flows, which take most of the time of an overview, are not added up with the table.
func TestOverviewLockTime(t *testing.T) {
	t.Parallel()
	tb, members := newSwarm(t, 20, 100)
	reportFlows(tb, members)
	locked, free := time.Hour, time.Hour
	for range 10 {
		at := time.Now()
		o, sw := tb.overview("s")
		done := time.Now()
		sw.describe(o)
		locked, free = min(locked, done.Sub(at)), min(free, time.Since(done))
	}
	t.Logf("%v with the lock, %v without", locked, free)
	if 4*locked > free {
		t.Errorf("%v with the lock, %v without", locked, free)
	}
}

// reportFlows reports the most flows of each member.
func reportFlows(tb *table, members []*member) {
	for i, m := range members {
		r := &proto.Received{Length: 1000}
		for k := range maxMemberFlows {
			r.Flows = append(r.Flows, proto.Flow{Cluster: members[(i+k)%len(members)].cluster.name, Bytes: uint64(k + 1)})
		}
		tb.received(epoch, m.id, []byte("s"), r)
	}
}

// TestOverviewIsACopy changes a swarm between the copy and the overview.
func TestOverviewIsACopy(t *testing.T) {
	t.Parallel()
	tb, members := newSwarm(t, 4, 4)
	reportFlows(tb, members)
	o, sw := tb.overview("")
	sw.describe(o)
	want := fmt.Sprintf("%+v", o)
	o, sw = tb.overview("s")
	tb.received(epoch, members[0].id, []byte("s"), &proto.Received{Length: 1, WAN: 100})
	for _, m := range members[1:] {
		tb.leave(epoch, []byte("s"), m.id)
	}
	sw.describe(o)
	if got := fmt.Sprintf("%+v", o); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func BenchmarkOverview(b *testing.B) {
	tb, members := newSwarm(b, 40, 500)
	reportFlows(tb, members)
	for b.Loop() {
		o, sw := tb.overview("s")
		sw.describe(o)
	}
}
