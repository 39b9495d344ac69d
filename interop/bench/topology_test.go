package bench

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// plannedRate returns the least rate of a host in a plan for what the swarm of a link measured.
func plannedRate(ctx context.Context, t *testing.T, source *Daemon, link string) (least float64) {
	t.Helper()
	text, err := source.mob(ctx, "topology", link)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "topology.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := build("../mob-bench"); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(ctx, filepath.Join(programs, "mob-bench"), "plan", file, "--source", source.ID(), "--algorithm", "edmonds", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Hosts []struct{ Rate float64 }
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	for _, h := range p.Hosts {
		if h.Rate > 0 && (least == 0 || h.Rate < least) { // nothing limits the links of the source's cluster
			least = h.Rate
		}
	}
	return least
}

// TestGridTopology makes a swarm measure the links of a grid. Where a link was full its rate is that to which
// it is shaped, within a tenth; where it was not, the rate is no higher.
func TestGridTopology(t *testing.T) {
	const size = 168e6 // so that each link has some times of three seconds to be full in
	links := netns.Fast()
	f, names := newFleet(t, links, 4, 4, 4, 4)
	source, sinks := f.startAll(t, names...)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	link := source.mustSeed(t, size)
	machine := busyShare(t)
	began := time.Now()
	concurrently(t, sinks, func(d *Daemon) error { return d.Get(ctx, link) })
	busy := machine() >= fullyBusy // a link is not full then, or its rate is lower
	t.Logf("complete after %v, busy %v", time.Since(began), busy)
	text, err := source.mob(ctx, "topology", link, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var top struct {
		Hosts []struct{ Name string }
		Links []struct {
			From, To       string
			Rate           int64
			Full           bool
			RTT            time.Duration `json:"rtt_ns"`
			Segments, Lost uint64
		}
	}
	if err := json.Unmarshal([]byte(text), &top); err != nil {
		t.Fatal(err)
	}
	fromSource := 0
	for _, l := range top.Links {
		shaped := float64(links.Rate(l.From, l.To))
		part := float64(l.Rate) / shaped
		t.Logf("%s to %s: %.3f of %.1f MB/s, full %v, %v, %d of %d segments lost", l.From, l.To, part, shaped/1e6, l.Full, l.RTT, l.Lost, l.Segments)
		if part > 1.1 || l.Full && part < 0.9 && !busy {
			t.Errorf("%s to %s: measured %.2f MB/s of %.1f, full %v", l.From, l.To, float64(l.Rate)/1e6, shaped/1e6, l.Full)
		}
		if l.Full && l.From == "A" {
			fromSource++
		}
	}
	if bound := plannedRate(ctx, t, source, link); bound < 0.8*12e6 && !busy || bound > 1.1*12e6 { // some rates are lower bounds
		t.Errorf("a plan for what was measured reaches %.2f MB/s, want about 12", bound/1e6)
	}
	if len(top.Hosts) != 16 || fromSource != 3 && !busy { // the links of the source are the bottleneck
		t.Errorf("%d hosts, %d full links from the source's cluster", len(top.Hosts), fromSource)
	}
}
