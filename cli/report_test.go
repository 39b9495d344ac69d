package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/tracker"
)

// TestLevels has a status tell bytes and peers by level where the name of the cluster is a path, and by WAN
// and LAN where it is none.
func TestLevels(t *testing.T) {
	t.Parallel()
	st := peer.Status{
		Name: "x", Length: 100, Traffic: peer.Traffic{WANIn: 10e6, LANIn: 70e6, LANOut: 5e6}, Rate: peer.Traffic{WANIn: 1e6},
		Peers: []peer.PeerStatus{
			{ID: "1", Cluster: "g/1", Local: true},
			{ID: "2", Cluster: "g/2"},
			{ID: "3", Cluster: "g"},
			{ID: "4", Cluster: "l/1"},
		},
	}
	want := func(lines ...string) {
		t.Helper()
		text := strings.Join(transferLines(st, false), "\n")
		for _, l := range lines {
			if !strings.Contains(text, "\n"+l+"\n") && !strings.HasSuffix(text, "\n"+l) {
				t.Errorf("no line %q in\n%s", l, text)
			}
		}
	}
	want("  in      WAN 10 MB (1.0 MB/s), LAN 70 MB", "  out     WAN 0 B, LAN 5.0 MB", "  peers   1 in this cluster, 3 in others")
	st.Levels = []peer.Level{{Group: "g", In: 10e6}, {Group: "g/1", In: 60e6, Out: 5e6, InRate: 3e6}}
	want("  in      WAN 10 MB (1.0 MB/s), g 10 MB, g/1 60 MB (3.0 MB/s)", "  out     WAN 0 B, g 0 B, g/1 5.0 MB",
		"  peers   1 in this cluster, 2 elsewhere in g, 1 in other sites")
	if got, want := fromLevels(st.Levels), "10 MB from g, 60 MB from g/1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestIsolated shows in status, receipt and page that a node reaches no member of its cluster.
func TestIsolated(t *testing.T) {
	t.Parallel()
	st := peer.Status{Root: "/x", Phase: peer.Fetching, Isolation: &peer.Isolation{Cluster: "lyon", Known: 12, Err: "dial: no route"}}
	const fetching = "12 members of cluster lyon are known, none can be reached: everything comes over the WAN; last error: dial: no route"
	if text := strings.Join(transferLines(st, false), "\n"); !strings.Contains(text, "\n  alone   "+fetching+"\n") {
		t.Error(text)
	}
	if p := summarize([]peer.Status{st, {}}, ""); p.Transfers[0].Isolated+p.Transfers[1].Isolated != fetching {
		t.Errorf("%+v", p.Transfers)
	}
	st.Phase, st.Isolation.Known = peer.Whole, 1
	var out bytes.Buffer
	if err := printReceipt(&command.App{Env: &command.Env{Out: &out}}, st); err != nil {
		t.Fatal(err)
	}
	const complete = "; 1 member of cluster lyon is known, none can be reached: everything came over the WAN; last error: dial: no route\n"
	if !strings.HasSuffix(out.String(), complete) {
		t.Error(out.String())
	}
}

// TestFleetPageOfRacks has sites beside racks, with the flows of both.
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
