package status

import (
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/topology"
	"github.com/mobgrid/mob/mob/plan"
)

// TestWriteTopology checks that lower bounds are marked, and that unknown rates are left out.
func TestWriteTopology(t *testing.T) {
	t.Parallel()
	top := &control.Topology{
		Hosts: []control.TopologyHost{{Name: "n1", Cluster: "g/1"}, {Name: "n2", Cluster: "l"}},
		Links: []control.TopologyLink{
			{From: "g", To: "g/1", Rate: 12_345_678},
			{From: "g", To: "l", Segments: 200, Lost: 1},
			{From: "g", To: "x", RTT: time.Millisecond},
			{From: "l", To: "g", Rate: 2_900_000, Full: true, RTT: 20 * time.Millisecond},
			{From: "x", To: "l", Rate: 7},
		},
	}
	var b strings.Builder
	writeTopology(&b, top)
	for _, want := range []string{
		"[[host]]\nname    = \"n1\"\ncluster = \"g/1\"\n",
		"[[switch]]\nname = \"g\"\n\n[[switch]]\nname = \"g/1\"\n\n[[switch]]\nname = \"l\"\n\n[[switch]]\nname = \"x\"\n",
		"[[link]]\na  = \"g\"\nb  = \"g/1\"\nab = \"12.346MB\" # at least: the link was not full\nba = \"12.346MB\" # no traffic this way: the rate of the other direction\n",
		"[[link]] # round trip 20.0 ms, 0.50 % of segments sent again\na  = \"g\"\nb  = \"l\"\nab = \"2.900MB\" # no traffic this way: the rate of the other direction\nba = \"2.900MB\"\n",
		"ba = \"0.001MB\" # at least",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Count(b.String(), "[[link]]") != 3 {
		t.Error("a link without traffic has a rate")
	}
	got, err := topology.Parse([]byte(b.String()))
	if err != nil || len(got.Hosts) != 2 || len(got.Switches) != 4 || len(got.Links) != 3 {
		t.Errorf("%v: %+v", err, got)
	}
	if _, err := plan.NewNetwork(got); err != nil {
		t.Error(err)
	}
	const none = "# No link has been measured yet"
	if strings.Contains(b.String(), none) {
		t.Error("the measured links are not mentioned")
	}
	top.Links = nil
	if writeTopology(&b, top); !strings.Contains(b.String(), none) {
		t.Error("the missing links are not mentioned")
	}
}
