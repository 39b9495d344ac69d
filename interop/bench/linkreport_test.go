package bench

import (
	"math"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// A link that is idle for a second, then full, then half full, and idle again after the first
// cluster is complete.
func TestLinkReports(t *testing.T) {
	c := testCase(t, "2x2", 12e6)
	full := 3e6 * netns.TCPShare
	l := link{"A", "B"}
	count := func(bytes float64) netns.Count {
		return netns.Count{Bytes: uint64(bytes), Frames: uint64(bytes / 1500)}
	}
	var samples []sample
	sum := 0.0
	for i, rate := range []float64{0, 0, full, full, full / 2, full / 2, 0, 0} {
		samples = append(samples, sample{time.Duration(i) * time.Second / 2, map[link]netns.Count{l: count(sum)}})
		sum += rate / 2
	}
	samples = append(samples, sample{4 * time.Second, map[link]netns.Count{l: count(sum)}})
	reports, use := c.linkReports(samples, c.watchedLinks(), 3*time.Second)
	if len(reports) != 1 || len(use) != 8 {
		t.Fatalf("%v, %v", reports, use)
	}
	r := reports[0]
	if !near(r.Idle.Start, 1) || !near(r.Idle.Middle, 0.5) || !near(r.Idle.End, 1) {
		t.Errorf("idle %+v, want 1, 0.5 and 1", r.Idle)
	}
	if want := 66.0 / 1500; math.Abs(r.Headers()-want) > want/100 {
		t.Errorf("headers %.4f, want %.4f", r.Headers(), want)
	}
	want := netns.TCPShare * 1.5 / 4
	if !near(r.Share, want) || !near(use[3].Share, netns.TCPShare) || !near(use[3].At, 1.75) {
		t.Errorf("share %.3f, want %.3f; use %v", r.Share, want, use)
	}
}

// In a single cluster the watched links are the NICs, each with its own rate.
func TestLinkReportsOfOneCluster(t *testing.T) {
	c := testCase(t, "3", 12e6)
	if all := c.watchedLinks(); len(all) != 0 {
		t.Fatalf("%v of NICs without a rate", all)
	}
	if reports, use := c.linkReports([]sample{{}, {at: time.Second}}, c.watchedLinks(), time.Second); len(reports)+len(use) != 0 {
		t.Fatalf("%v, %v of NICs without a rate", reports, use)
	}
	c.Clusters[0].NIC, c.Clusters[0].SlowNIC = 4*netns.MBps, map[int]netns.Rate{2: netns.MBps}
	var samples []sample
	for i := range 5 {
		at := time.Duration(i) * time.Second
		carried := map[link]netns.Count{}
		for from, rate := range map[string]float64{"A0": 4e6, "A2": 0.5e6} {
			carried[link{from, "A"}] = netns.Count{Bytes: uint64(at.Seconds() * rate * netns.TCPShare)}
		}
		samples = append(samples, sample{at, carried})
	}
	reports, _ := c.linkReports(samples, c.watchedLinks(), 3*time.Second)
	if len(reports) != 3 {
		t.Fatalf("%v", reports)
	}
	for i, want := range []Phases{{}, {Start: 3, End: 1}, {Start: 1.5, End: 0.5}} {
		if got := reports[i].Idle; !near(got.Start, want.Start) || !near(got.Middle, want.Middle) || !near(got.End, want.End) {
			t.Errorf("the NIC of node %d was idle for %+v, want %+v", i, got, want)
		}
	}
}

func TestCapacitiesFollowTheScenario(t *testing.T) {
	c := testCase(t, "2x2", 12e6)
	c.Scenario = netns.Switch(netns.Uniform(4*netns.MBps, "A", "B"), netns.Uniform(1*netns.MBps, "A", "B"), time.Second)
	if got := c.capacities(500*time.Millisecond, 2*time.Second, c.watchedLinks())[0]; !near(got/1e6, 3) {
		t.Errorf("%.3f MB, want 3", got/1e6)
	}
}
