package network

import (
	"fmt"
	"testing"

	"github.com/mobgrid/mob/tracker"
)

// TestFleetPageOfRacks checks that the page lists both sites and racks, with their flows.
func TestFleetPageOfRacks(t *testing.T) {
	t.Parallel()
	flows := []tracker.FlowOverview{{From: "g", Bytes: 1}, {From: "g/1", Bytes: 2}, {From: "l", Bytes: 3}, {From: "gone", Bytes: 4}}
	o := &tracker.Overview{
		Clusters: []tracker.ClusterOverview{{Name: "g/1", Flows: flows}, {Name: "l", Flows: flows}},
		Sites:    []tracker.ClusterOverview{{Name: "g", Flows: flows}, {Name: "l"}},
	}
	p := newFleetPage(o)
	if len(p.Clusters) != 2 || len(p.Sites) != 2 || fmt.Sprint(p.Clusters[0].Flows) != "[{g 1 0} {g/1 2 0} {l 3 0}]" {
		t.Errorf("%+v", p)
	}
	for i := range 2000 {
		o.Clusters = append(o.Clusters, tracker.ClusterOverview{Name: fmt.Sprint("g/", i+2)})
	}
	if p := newFleetPage(o); len(p.Clusters) != maxFleetClusters || p.More != 2002-maxFleetClusters || len(p.Sites) != 2 {
		t.Errorf("%d clusters, %d more, %d sites", len(p.Clusters), p.More, len(p.Sites))
	}
	o.Sites = nil
	if p := newFleetPage(o); len(p.Sites) != 0 {
		t.Error("sites of flat names")
	}
}
