package swarm

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// feedMeter feeds a meter for a time, twice a second, with flows in bytes per second from each cluster.
func feedMeter(m *linkMeter, now time.Time, flows map[string]uint64, peers []mob.PeerStatus, rates map[string]uint64, d time.Duration) time.Time {
	name := func(n mob.Node) string { return n.Cluster }
	list := func() (out []proto.Flow) {
		for cluster, n := range flows {
			out = append(out, proto.Flow{Cluster: cluster, Bytes: n})
		}
		return out
	}
	m.sample(now, list(), peers, name)
	for end := now.Add(d); now.Before(end); {
		now = now.Add(500 * time.Millisecond)
		for cluster, rate := range rates {
			flows[cluster] += rate / 2
		}
		m.sample(now, list(), peers, name)
	}
	return now
}

// TestLinkMeter checks that each window is reported once, with the received bytes and the shortest queue of
// peers that owed blocks, and without the own cluster.
func TestLinkMeter(t *testing.T) {
	t.Parallel()
	m, flows := new(linkMeter), map[string]uint64{"A": 5000, "own": 70}
	peers := []mob.PeerStatus{
		{Node: mob.Node{Cluster: "A"}, Queue: 30 * time.Millisecond, InFlight: 1},
		{Node: mob.Node{Cluster: "A"}, Queue: 20 * time.Millisecond, InFlight: 1},
		{Node: mob.Node{Cluster: "A"}, Queue: 0},
		{Node: mob.Node{Cluster: "B"}, Queue: 70 * time.Millisecond, InFlight: 1},
	}
	rates := map[string]uint64{"A": 1000, "own": 9999}
	now := feedMeter(m, time.Unix(1000, 0), flows, peers, rates, 3*time.Second)
	rtt := map[string]time.Duration{"A": 3 * time.Millisecond}
	const want = "{{} 200 [1000 1000 1000] [{{} A 3000 0 0 [1000 1000 1000] [20000 20000 20000]}]}"
	for range 2 { // until a tracker has it
		got := m.take(now.Add(200*time.Millisecond), "own", rtt)
		if fmt.Sprint(*got) != want {
			t.Errorf("%v, want %s", *got, want)
		}
	}
	m.take(now, "own", rtt)
	m.sent()
	if got := m.take(now, "own", rtt); got != nil {
		t.Errorf("reported twice: %v", *got)
	}
	// After a long time without a report, it has the newest windows, of the clusters that sent most.
	for i := range 100 {
		rates[fmt.Sprintf("c%02d", i)] = uint64(100 + i)
	}
	now = feedMeter(m, now, flows, peers, rates, time.Minute)
	got := m.take(now, "own", rtt)
	if len(got.Windows) != proto.MaxWindows || len(got.Links) != proto.MaxMeasured || got.Ago != 0 ||
		got.Links[0].Cluster != "A" || got.Links[15].Cluster != "c99" || !slices.Equal(got.Links[15].Bytes[:2], []uint32{198, 198}) {
		t.Errorf("%v", *got)
	}
	if _, err := proto.AppendFrame(nil, got); err != nil {
		t.Error(err)
	}
}

// TestLinkMeterCountsSegments checks that segments are counted once.
func TestLinkMeterCountsSegments(t *testing.T) {
	t.Parallel()
	m := new(linkMeter)
	m.count("A", segments{100, 1})
	m.count("A", segments{150, 2})
	got := m.take(time.Now(), "own", nil)
	if l := got.Links[0]; l.Sent != 250 || l.Lost != 3 || l.Bytes != nil {
		t.Errorf("%+v", l)
	}
	m.sent()
	m.count("A", segments{10, 0})
	if got = m.take(time.Now(), "own", nil); got.Links[0].Sent != 10 || got.Links[0].Lost != 0 {
		t.Errorf("%+v", got.Links[0])
	}
}

// TestLinkMeterIsBounded counts segments of ever new clusters, as while no tracker answers.
func TestLinkMeterIsBounded(t *testing.T) {
	t.Parallel()
	m := new(linkMeter)
	for i := range 2 * maxRoutes {
		m.count(fmt.Sprint("cluster", i), segments{sent: 1})
	}
	m.count("cluster0", segments{sent: 1})
	if n := len(m.counted); n != maxRoutes || m.counted["cluster0"].sent != 2 {
		t.Errorf("%d clusters; the first has %+v", n, m.counted["cluster0"])
	}
}
