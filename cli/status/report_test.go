package status

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
)

// TestLevels checks that a status counts bytes and peers by level if the name of the cluster is a path, and by WAN
// and LAN if it is not.
func TestLevels(t *testing.T) {
	t.Parallel()
	st := peer.Status{
		Name: "x", Length: 100, SwarmStatus: peer.SwarmStatus{
			Traffic: peer.Traffic{WANIn: 10e6, LANIn: 70e6, LANOut: 5e6}, Rate: peer.Traffic{WANIn: 1e6},
		},
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
	want("  in      WAN 10 MB (1.0 MB/s), LAN 70 MB", "  out     WAN 0 B, LAN 5.0 MB", "  peers   1 in this cluster, 3 in other clusters")
	st.Levels = []peer.Level{{Group: "g", In: 10e6}, {Group: "g/1", In: 60e6, Out: 5e6, InRate: 3e6}}
	want("  in      WAN 10 MB (1.0 MB/s), g 10 MB, g/1 60 MB (3.0 MB/s)", "  out     WAN 0 B, g 0 B, g/1 5.0 MB",
		"  peers   1 in this cluster, 2 elsewhere in g, 1 in other sites")
}

func TestStatusNamesIsolation(t *testing.T) {
	t.Parallel()
	st := peer.Status{Root: "/x", Phase: peer.Fetching, SwarmStatus: peer.SwarmStatus{Isolation: &peer.Isolation{Cluster: "lyon", Known: 12, Err: "dial: no route"}}}
	const fetching = "12 members of cluster lyon are known, none can be reached: everything comes over the WAN; last error: dial: no route"
	if text := strings.Join(transferLines(st, false), "\n"); !strings.Contains(text, "\n  alone   "+fetching+"\n") {
		t.Error(text)
	}
}

func TestDamagedSeedState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		damaged, have int64
		want          string
	}{
		{1, 94, "changed on disk: cannot be served (1 of 17 pieces)"},
		{17, 0, "changed on disk: cannot be served"},
	} {
		st := peer.Status{Name: "x", Phase: peer.Whole, Seed: true, Length: 100, Pieces: 17, SwarmStatus: peer.SwarmStatus{Damaged: c.damaged, Have: c.have}}
		if list, status := stateName(st), describeState(st); list != c.want || status != c.want {
			t.Errorf("%d damaged pieces: ls has %q, status %q", c.damaged, list, status)
		}
	}
}

// TestDocumented checks that the operator's guide has the fields of `mob status --json`.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operating/trouble.md")
	if err != nil {
		t.Fatal(err)
	}
	_, guide, _ := strings.Cut(string(text), "## Status for programs")
	guide, _, _ = strings.Cut(guide, "\n## ")
	listed := map[string]bool{}
	for _, code := range regexp.MustCompile("`[a-z_.]+`").FindAllString(guide, -1) {
		for name := range strings.SplitSeq(strings.Trim(code, "`"), ".") {
			listed[name] = true
		}
	}
	var check func(reflect.Type)
	check = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[feed.Info]() || typ == reflect.TypeFor[time.Time]() {
			return
		}
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && !listed[name] {
				t.Errorf("%v: %s is not in the guide", typ, name)
			}
			if name != "-" {
				check(f.Type)
			}
		}
	}
	check(reflect.TypeFor[report]())
}
