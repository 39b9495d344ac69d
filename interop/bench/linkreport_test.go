package bench

import (
	"math"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// TestLinkReports checks what a link carried between two readings, beside its capacity.
func TestLinkReports(t *testing.T) {
	c := testCase(t, "2x2", 12e6)
	l := link{"A", "B"}
	before := map[link]netns.Count{l: {Bytes: 1000, Frames: 2}}
	after := map[link]netns.Count{l: {Bytes: 6e6 + 1000, Frames: 4002}}
	reports := c.linkReports(before, after, 4*time.Second)
	if len(reports) != 1 {
		t.Fatalf("%v", reports)
	}
	r := reports[0]
	if r.Bytes != 6e6 || !near(r.Share, 0.5) {
		t.Errorf("%+v, want half of 3 MB/s for 4 s", r)
	}
	if want := 66.0 / 1500; math.Abs(r.Headers()-want) > want/100 {
		t.Errorf("headers %.4f, want %.4f", r.Headers(), want)
	}
}

// In a single cluster the watched links are the NICs, each with its own rate.
func TestLinkReportsOfOneCluster(t *testing.T) {
	c := testCase(t, "3", 12e6)
	if all := c.linkReports(nil, nil, time.Second); len(all) != 0 {
		t.Fatalf("%v of NICs without a rate", all)
	}
	c.Clusters[0].NIC, c.Clusters[0].SlowNIC = 4*netns.MBps, map[int]netns.Rate{2: netns.MBps}
	after := map[link]netns.Count{{"A0", "A"}: {Bytes: 4e6}, {"A2", "A"}: {Bytes: 4e6}}
	reports := c.linkReports(nil, after, 4*time.Second)
	if len(reports) != 3 {
		t.Fatalf("%v", reports)
	}
	for i, want := range []float64{0.25, 0, 1} {
		if got := reports[i].Share; !near(got, want) {
			t.Errorf("the NIC of node %d carried %v of its rate, want %v", i, got, want)
		}
	}
}

func TestCapacityFollowsTheScenario(t *testing.T) {
	c := testCase(t, "2x2", 12e6)
	c.Scenario = netns.Switch(netns.Uniform(4*netns.MBps, "A", "B"), netns.Uniform(1*netns.MBps, "A", "B"), time.Second)
	if got := c.capacity(c.watchedLinks()[0], 2*time.Second); !near(got/1e6, 5) {
		t.Errorf("%.3f MB, want 5", got/1e6)
	}
}
