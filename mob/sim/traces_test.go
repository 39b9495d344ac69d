package sim

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/coded"
)

var update = flag.Bool("update", false, "record testdata/traces.txt again")

const tracesFile = "testdata/traces.txt"

// TestTraces compares the trace of each run of [traced] with testdata/traces.txt. A change that should not
// affect behavior leaves all of them as they are. Record them with -update, and without -short, if it should.
// Other architectures round floating-point numbers differently.
func TestTraces(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("recorded on amd64")
	}
	text, err := os.ReadFile(tracesFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	recorded := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, trace, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		recorded[name] = trace
	}
	configs := traced()
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		if strings.HasPrefix(name, "long ") && testing.Short() {
			continue
		}
		r, err := Run(configs[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := fmt.Sprintf("%016x in %.3f s", r.Trace, r.Time.Seconds())
		if got != recorded[name] && !*update {
			t.Errorf("%s: %s, recorded: %s", name, got, recorded[name])
		}
		recorded[name] = got
	}
	if !*update {
		return
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if _, ok := configs[name]; ok {
			fmt.Fprintf(&out, "%s: %s\n", name, recorded[name])
		}
	}
	if err := os.WriteFile(tracesFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// traced returns the configurations whose traces are recorded. A long one is skipped in short tests.
func traced() map[string]Config {
	all := map[string]Config{}
	for _, name := range []string{fast, slow, fastSlow, slowFast, mayhem} {
		all[name] = scenario(name, 20e6, 1)
		for seed := range uint64(2) {
			all[fmt.Sprintf("long %s, seed %d", name, seed+2)] = scenario(name, 60e6, seed+2)
		}
		c := scenario(name, 20e6, 1)
		c.PieceLength, c.Coding = 128<<10, coded.Coding{Blocks: 16, Names: 32, Live: 32}
		all["coded "+name] = c
	}
	change := func(name, from string, length int64, f func(c *Config)) {
		c := scenario(from, length, 1)
		f(&c)
		all[name] = c
	}
	change("rtt 100 ms", fast, 20e6, func(c *Config) { c.RTT = 100 * time.Millisecond })
	change("slow links", fast, 5e6, func(c *Config) {
		c.PieceLength = 16 << 10
		for l, r := range c.Links {
			c.Links[l] = constant(r.at(0) / 16)
		}
	})
	change("long 4 to 32", fast, 40e6, func(c *Config) { c.Clusters = grid(4, 12, 16, 32) })
	all["one cluster"] = Config{Clusters: grid(20), Length: 20e6, PieceLength: 256 << 10, NIC: 12.5e6, Seed: 1}
	all["sparse"] = Config{
		Clusters: grid(100), Length: 4e6, PieceLength: 256 << 10, NIC: 125e6, RTT: 10 * time.Millisecond,
		Session: 256 << 10, Seed: 1,
	}
	addFaults(change)
	addRacks(all)
	addPlans(all, change)
	all["gossip"] = gossip(10, 50, 2)
	return all
}

type changed func(name, from string, length int64, f func(c *Config))

func addFaults(change changed) {
	for name, f := range map[string]Faults{
		"crash":       {Kills: []Kill{{Node: 6, At: 2 * time.Second}}},
		"cable cut":   {Kills: []Kill{{Node: 6, At: 2 * time.Second, Silent: true}}},
		"cut off":     {Cuts: []Cut{{Node: 6, At: 2 * time.Second, For: 20 * time.Second}}},
		"source gone": {KillSource: true},
		"liar":        {Corrupters: []int{6}},
		"lossy":       {Lossy: []int{9}},
		"claimer":     {Claimers: []int{6}},
		"boasters":    {Boasters: []int{6, 7}},
		"hang":        {Hangs: map[int]int{6: 40}},
		"trickler":    {Tricklers: []int{6}},
		"all slow":    {Slow: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	} {
		change(name, fast, 40e6, func(c *Config) { c.PieceLength, c.Faults, c.Limit = 64<<10, f, time.Hour })
	}
	change("slow receiver", fast, 40e6, func(c *Config) { c.SlowNIC = map[int]float64{6: 0.5e6} })
	change("late cluster", fast, 40e6, func(c *Config) {
		c.Starts = map[int]time.Duration{12: 2e9, 13: 2e9, 14: 2e9, 15: 2e9}
	})
	change("small handouts", fast, 40e6, func(c *Config) { c.Handout = 3 })
}

func addRacks(all map[string]Config) {
	wan := constant(3e6)
	all["racks, WAN"] = twoSites(20e6, 1)
	narrow := twoSites(20e6, 1)
	narrow.Uplink = 4e6
	all["racks, uplinks"] = narrow
	all["racks, NICs"] = Config{
		Clusters: racks(1, 4, 5), Length: 20e6, PieceLength: 128 << 10, NIC: 12.5e6, Uplink: 25e6, Seed: 1,
	}
	all["long racks, many"] = Config{
		Clusters: racks(1, 10, 5), Length: 50e6, PieceLength: 128 << 10, NIC: 12.5e6, Uplink: 25e6, Seed: 1,
	}
	all["racks, odd"] = Config{
		Clusters: []Cluster{{"A", 2}, {"A/r1", 1}, {"A/r2", 1}, {"A/r3/c1", 2}, {"A/r3/c2", 2}, {"B", 3}, {"B/r1", 3}},
		Length:   10e6, PieceLength: 64 << 10, Uplink: 12.5e6, Seed: 1,
		Links: Links{{"A", "B"}: wan, {"B", "A"}: wan},
	}
	kills := twoSites(30e6, 1)
	for _, n := range []int{2, 5, 8, 12} {
		kills.Faults.Kills = append(kills.Faults.Kills, Kill{Node: n, At: 4 * time.Second, Silent: n%2 == 0})
	}
	all["racks, kills"] = kills
	code := twoSites(10e6, 1)
	code.PieceLength, code.Coding = 64<<10, coded.Coding{Blocks: 16, Names: 64, Live: 8}
	all["racks, coded"] = code
}

func addPlans(all map[string]Config, change changed) {
	change("plan, fast", fast, 40e6, func(c *Config) { c.Plan = packed(c) })
	change("plan, slow", slow, 40e6, func(c *Config) { c.Plan = packed(c) })
	change("plan, deaths", fast, 40e6, func(c *Config) {
		c.Plan = packed(c)
		c.Faults.Kills = []Kill{
			{Node: 4, At: time.Second, Silent: true}, {Node: 9, At: 2 * time.Second}, {Node: 14, At: 2 * time.Second},
		}
	})
	change("plan, hang", fast, 40e6, func(c *Config) { c.Plan, c.Faults.Hangs = packed(c), map[int]int{4: 40} })
	change("plan, absent", fast, 40e6, func(c *Config) {
		c.Plan = packed(c)
		for h, name := range c.Plan.Hosts {
			if name == "B-1" || name == "C-3" {
				c.Plan.Hosts[h] = "other-" + name
			}
		}
	})
	change("plan, late", fast, 40e6, func(c *Config) {
		c.Plan, c.Starts = packed(c), map[int]time.Duration{4: 6 * time.Second, 14: 4 * time.Second}
	})
	chain := Config{
		Clusters: []Cluster{{"A/r1", 4}, {"A/r2", 4}, {"A/r3", 4}}, NIC: 12.5e6, Uplink: 12.5e6,
		Length: 30e6, PieceLength: 256 << 10, Seed: 1,
	}
	chain.Plan = chained(&chain)
	all["plan, chain through racks"] = chain
}
