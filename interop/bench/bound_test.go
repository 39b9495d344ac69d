package bench

import (
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

func TestIdealOfNICs(t *testing.T) {
	for _, c := range []struct {
		clusters string
		nic, wan netns.Rate
		slow     map[int]netns.Rate // in the last cluster
		want     float64
	}{
		{"20", 12.5, 0, nil, 16},
		{"4x4", 0, 0, nil, 200.0 / 12},
		{"4x4", 5, 0, nil, 40},
		{"4x4", 5, 0, map[int]netns.Rate{1: 0.5}, 40}, // not waited for
		{"4x4", 0, 2.5, nil, 20},                      // four times 2.5 into a cluster
		{"4x4", 100, 1, nil, 50},
		{"4x4", 0.5, 5, nil, 200 / 5.5},
		{"20", 12.5, 1, nil, 16}, // there is no other cluster
	} {
		k := testCase(t, c.clusters, 200e6)
		for i := range k.Clusters {
			k.Clusters[i].NIC, k.Clusters[i].WANNIC = c.nic*netns.MBps, c.wan*netns.MBps
		}
		k.Clusters[len(k.Clusters)-1].SlowNIC = c.slow
		if got := k.Ideal().Seconds(); !near(got, c.want) {
			t.Errorf("%+v: ideal %.3f s", c, got)
		}
	}
}

func TestIdealOfUplinks(t *testing.T) {
	for _, c := range []struct {
		clusters    string
		nic, uplink netns.Rate
		want        float64
	}{
		{"2x(2x4)", 0, 12.5, 200.0 / 3},
		{"2x(2x4)", 0, 2, 100},
		{"(4x5)", 12.5, 25, 16},
		{"(4x5)", 12.5, 5, 40},
		{"(20)", 12.5, 5, 16}, // no node is beyond the uplink
		{"4,(2x2)", 0, 1, 200},
		{"(2x2),4", 0, 0, 200.0 / 3},
	} {
		k := testCase(t, c.clusters, 200e6)
		for i := range k.Clusters {
			k.Clusters[i].NIC, k.Clusters[i].Uplink = c.nic*netns.MBps, c.uplink*netns.MBps
		}
		if got := k.Ideal().Seconds(); !near(got, c.want) {
			t.Errorf("%+v: ideal %.3f s", c, got)
		}
	}
}
