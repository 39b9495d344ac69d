package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/tracker"
	"github.com/mobgrid/mob/tracker/bittorrent"
)

// stats returns counters that are all different.
func stats() peer.Stats {
	st := peer.Stats{
		Totals: swarm.Totals{
			Traffic:   payload.Traffic{WANIn: 1, LANIn: 2, WANOut: 3, LANOut: 4},
			Duplicate: 5, Verified: 6, VerifiedBytes: 7, Bad: 8, Damaged: 9, Stalls: 10, Joined: 11, Left: 12,
		},
		Transfers: map[peer.Phase]int{peer.Fetching: 2},
		Clusters: map[string]swarm.ClusterStatus{
			"geneva":                {Peers: 3, Stalled: 1, RTT: time.Second / 2, Queue: time.Second / 4},
			swarm.BitTorrentCluster: {Peers: 2},
		},
		Damaged: 13, Unreadable: 14, Isolated: 1,
	}
	near := &st.Totals.Traffic.Near
	near[0].In, near[0].Out, near[1].In, near[1].Out = 15, 16, 17, 18
	return st
}

func newTestNode() prometheus.Collector { return NewNode(stats, "lyon/rack1", "v1") }

func newTestTracker() prometheus.Collector {
	return NewTracker(
		func() tracker.Stats {
			return tracker.Stats{Swarms: 1, Members: 2, MaxSwarms: 3, MaxMembers: 4, Requests: 5}
		},
		func() bittorrent.Stats { return bittorrent.Stats{Torrents: 1, Announces: 2} }, "v1")
}

// scrape asks a handler for its metrics.
func scrape(t testing.TB, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("status %d, %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
	}
	return w.Body.String()
}

// families gathers the metrics of a collector.
func families(t *testing.T, c prometheus.Collector) []*dto.MetricFamily {
	t.Helper()
	all, err := NewHandler(c).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNode(t *testing.T) {
	text := scrape(t, NewHandler(newTestNode()))
	for _, line := range []string{
		`mob_node_info{cluster="lyon/rack1",version="v1"} 1`,
		`mob_level_bytes_total{direction="in",group="lyon"} 15`,
		`mob_level_bytes_total{direction="out",group="lyon"} 16`,
		`mob_level_bytes_total{direction="in",group="lyon/rack1"} 17`,
		`mob_level_bytes_total{direction="out",group="lyon/rack1"} 18`,
		`mob_payload_bytes_total{direction="in",scope="wan"} 1`,
		`mob_payload_bytes_total{direction="in",scope="lan"} 2`,
		`mob_payload_bytes_total{direction="out",scope="wan"} 3`,
		`mob_payload_bytes_total{direction="out",scope="lan"} 4`,
		`mob_duplicate_bytes_total 5`,
		`mob_pieces_verified_total 6`,
		`mob_fetched_bytes_total 7`,
		`mob_pieces_failed_total 8`,
		`mob_pieces_damaged_total 9`,
		`mob_stalls_total 10`,
		`mob_sessions_opened_total 11`,
		`mob_sessions_closed_total 12`,
		`mob_pieces_out_of_service{reason="damaged"} 13`,
		`mob_pieces_out_of_service{reason="unreadable"} 14`,
		`mob_transfers{phase="fetching"} 2`,
		`mob_transfers{phase="failed"} 0`,
		`mob_transfers_isolated 1`,
		`mob_peers{cluster="geneva"} 3`,
		`mob_peers{cluster="(bittorrent)"} 2`,
		`mob_peers_stalled{cluster="geneva"} 1`,
		`mob_peer_round_trip_seconds{cluster="geneva"} 0.5`,
		`mob_peer_queue_delay_seconds{cluster="geneva"} 0.25`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if flat := scrape(t, NewHandler(NewNode(stats, "lyon", "v1"))); strings.Contains(flat, "mob_level") {
		t.Error("a node with a cluster of one part has levels")
	}
	for _, name := range []string{"go_goroutines", "go_info", "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no metric %s of the process", name)
		}
	}
}

// TestNamesAndLabels checks what Prometheus advises, that no label takes an id, and that there is
// nothing that is not described.
func TestNamesAndLabels(t *testing.T) {
	for _, c := range []prometheus.Collector{newTestNode(), newTestTracker()} {
		all := families(t, c)
		problems, err := promlint.NewWithMetricFamilies(all).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(c)
		if _, err := registry.Gather(); err != nil {
			t.Error(err)
		}
		bounded := map[string]bool{"cluster": true, "version": true, "direction": true, "scope": true, "phase": true, "reason": true, "group": true,
			"table": true, "protocol": true, "quantile": true}
		for _, f := range all {
			for _, m := range f.Metric {
				for _, l := range m.Label {
					if !bounded[l.GetName()] && strings.HasPrefix(f.GetName(), "mob_") {
						t.Errorf("%s has a label %s", f.GetName(), l.GetName())
					}
				}
			}
		}
	}
}

// TestClustersAreBounded checks that peers with ever new names of clusters make a bounded number of series.
func TestClustersAreBounded(t *testing.T) {
	round := 0
	c := NewNode(func() peer.Stats {
		round++
		st := peer.Stats{Clusters: map[string]swarm.ClusterStatus{"own": {Peers: 5}}}
		for i := range 300 {
			st.Clusters[fmt.Sprintf("a%d-%d", round, i)] = swarm.ClusterStatus{Peers: 1}
		}
		return st
	}, "own", "v1")
	seen := map[string]bool{}
	for range 5 {
		peers := 0.
		for _, f := range families(t, c) {
			for _, m := range f.Metric {
				if f.GetName() != "mob_peers" {
					continue
				}
				name := m.Label[0].GetValue()
				seen[name] = true
				peers += m.Gauge.GetValue()
				if name == "own" && m.Gauge.GetValue() != 5 {
					t.Errorf("own cluster: %v", m)
				}
			}
		}
		if peers != 305 {
			t.Errorf("%v peers, want 305", peers)
		}
	}
	if len(seen) > maxClusters+1 || !seen["own"] || !seen[other] {
		t.Errorf("%d names of clusters: %v", len(seen), seen)
	}
}

// TestManyScrapes checks that a thousand scrapes in a second read the node a few times.
func TestManyScrapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		h := NewHandler(NewNode(func() peer.Stats {
			reads.Add(1)
			return stats()
		}, "lyon", "v1"))
		const second, scrapes = 5, 1000
		var all sync.WaitGroup
		for i := range second * scrapes {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second / scrapes)
				scrape(t, h)
			})
		}
		all.Wait()
		if n := reads.Load(); n < second || n > second*int64(time.Second/keep) {
			t.Errorf("%d scrapes read the node %d times", second*scrapes, n)
		}
		before := reads.Load()
		time.Sleep(keep)
		scrape(t, h)
		if reads.Load() != before+1 {
			t.Error("a scrape after that is an old one")
		}
	})
}

// names are the names of all metrics.
func names(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, c := range []prometheus.Collector{newTestNode(), newTestTracker()} {
		for _, f := range families(t, c) {
			all[f.GetName()] = true
		}
	}
	return all
}

var metricName = regexp.MustCompile(`\b(mob|go|process)_[a-z_]+`)

// TestDashboard checks that each metric of the dashboard exists, and that the dashboard has each of ours.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../deploy/grafana/mob.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	all, used, ids := names(t), map[string]bool{}, map[int]bool{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q has the id of another", p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			found := metricName.FindAllString(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("panel %q: no metric in %s", p.Title, target.Expr)
			}
			for _, name := range found {
				used[name] = true
				if !all[name] {
					t.Errorf("panel %q: there is no metric %s", p.Title, name)
				}
			}
		}
	}
	for name := range all {
		if strings.HasPrefix(name, "mob_") && !used[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// TestDocumented checks that the operator's guide lists the metrics.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operating/trouble.md")
	if err != nil {
		t.Fatal(err)
	}
	all, listed := names(t), map[string]bool{}
	for _, name := range regexp.MustCompile("[`(]mob_[a-z_]+").FindAllString(string(text), -1) {
		name = name[1:]
		if name == "mob_size" { // a field of a status
			continue
		}
		listed[name] = true
		if !all[name] {
			t.Errorf("there is no metric %s", name)
		}
	}
	for name := range all {
		if strings.HasPrefix(name, "mob_") && !listed[name] {
			t.Errorf("%s is not in the guide", name)
		}
	}
}

// BenchmarkScrape scrapes a node with 64 peers, without reuse of an earlier scrape.
func BenchmarkScrape(b *testing.B) {
	n := peertest.Start(b, "hub")
	_, link, _ := peertest.SeedRandom(b, n, 1<<20, peer.SeedOptions{})
	for i := range 64 {
		cluster := fmt.Sprintf("c%d", i/8)
		if i < 8 {
			cluster = "hub"
		}
		peertest.Wait(b, peertest.Get(b, peertest.Start(b, cluster), link, b.TempDir()+"/out"))
	}
	peertest.Eventually(b, "64 peers", func() bool {
		peers := 0
		for _, c := range n.Stats().Clusters {
			peers += c.Peers
		}
		return peers == 64
	})
	h := NewHandler(NewNode(n.Stats, "hub", "v1"))
	b.ReportAllocs()
	for b.Loop() {
		h.made = time.Time{}
		scrape(b, h)
	}
}
