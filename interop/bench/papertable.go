package bench

import (
	"fmt"
	"strings"
)

// PaperNames lists the papers.
func PaperNames() []string { return []string{"mob", "cooper", "kascade", "stable", "twister"} }

// Calibration lists the cases that say whether scaled ones are to be compared.
func Calibration() []PaperCase {
	return []PaperCase{
		{Name: calibrationFull, Commands: []string{calibrationCommand}},
		{Name: calibrationScaled, Commands: []string{calibrationCommand}, Scaled: true},
	}
}

// paperTable collects cases and rows.
type paperTable struct {
	cases []PaperCase
	rows  []PaperRow
}

// PaperTable returns the cases and the rows of all papers.
func PaperTable() ([]PaperCase, []PaperRow) {
	t := new(paperTable)
	t.mob()
	t.messages()
	t.cooper()
	t.kascade()
	t.stable()
	t.twister()
	return t.cases, t.rows
}

const (
	balanced = "mob:plan=balanced"
	relays   = "relays of plans lose 4 to 9 % (docs/design/planned-transfers.md)"
)

func (t *paperTable) mob() {
	add := func(c PaperCase) {
		c.Paper = "mob"
		t.cases = append(t.cases, c)
	}
	row := func(r PaperRow) {
		r.Paper = "mob"
		t.rows = append(t.rows, r)
	}
	for i, s := range []string{fast, slow, fastSlow, slowFast, mayhem} {
		initial := s != mayhem
		add(PaperCase{Name: s, Commands: []string{"grid --systems mob,mob:plan=balanced,aria2 --rtt 20ms --scenario " + s}, Initial: initial})
		sizes := "--rtt 20ms --size 60MB --scenario " + s + " --clusters "
		add(PaperCase{Name: s + ", 64 simulated", Commands: []string{"sim " + sizes + "4x16", "sim --plan balanced " + sizes + "4x16"},
			Initial: initial, Long: s != fast && s != mayhem})
		add(PaperCase{Name: s + ", 4,12,16,32 simulated", Commands: []string{"sim " + sizes + "4,12,16,32", "sim --plan balanced " + sizes + "4,12,16,32"},
			Initial: initial, Long: true})
		for _, system := range []string{"mob", balanced, "aria2"} {
			row(PaperRow{Figure: "4, share of the bound", Group: s, Series: system, Of: s + "/" + system, By: s + "/bound",
				Source: "section 4.1: the picture alone has the rates"})
		}
		row(PaperRow{Figure: "4", Group: s, Series: "mob / aria2", Of: s + "/mob", By: s + "/aria2", Least: 1,
			Source: "section 4.1: BitTorrent always performs worst"})
		least := 0.9
		if i >= 2 {
			least = 1
		}
		for _, r := range []PaperRow{
			{Figure: "4", Group: s, Of: s + "/mob", By: s + "/" + balanced},
			{Figure: "4, 64 nodes simulated", Group: s, Of: s + ", 64 simulated/mob", By: s + ", 64 simulated/" + balanced},
			{Figure: "5, 4, 12, 16, 32 nodes simulated", Group: s, Of: s + ", 4,12,16,32 simulated/mob", By: s + ", 4,12,16,32 simulated/" + balanced},
		} {
			r.Series, r.Least, r.Source = "mob / balanced plan", least, "section 4.1: MOB performs similar to Balanced Multicasting in the static scenarios, and outperforms it in all three dynamic ones"
			row(r)
		}
	}
	for _, r := range []PaperRow{
		{Group: "mayhem / fast", Series: "mob", Of: "mayhem/mob", By: "fast/mob", Published: 0.62, Source: "section 4.1: 62 % of its throughput in the fast links scenario"},
		{Group: "mayhem / fast", Series: balanced, Of: "mayhem/" + balanced, By: "fast/" + balanced, Published: 0.42,
			Source: "section 4.1: 42 % of its throughput", Why: "the draws of the links differ; a planned transfer requests, so that a slow tree holds back only its own pieces"},
		{Group: "slow-fast / slow", Series: balanced, Of: "slow-fast/" + balanced, By: "slow/" + balanced, Published: 1,
			Source: "section 4.1: the same throughput as in the slow links scenario", Why: "there its sender shapes the rates of its trees; here a tree is as fast as its links are"},
	} {
		r.Figure = "4, changes of links"
		row(r)
	}
	add(PaperCase{Name: "100 ms", Commands: []string{"grid --systems mob,mob:plan=balanced,aria2 --rtt 100ms"}})
	for _, s := range []struct {
		system string
		paper  float64
	}{{"mob", 0.925}, {balanced, 0.997}, {"aria2", 0.62}} {
		row(PaperRow{Figure: "text, third experiment", Group: "100 ms / 20 ms", Series: s.system, Of: "100 ms/" + s.system, By: "fast/" + s.system,
			Published: s.paper, Source: "section 4.1: slowdown of 7.5 % for MOB, 0.3 % for Balanced Multicasting, 38 % for BitTorrent",
			Why: "16 nodes here, and windows that grow with the round trip"})
	}
	add(PaperCase{Name: "4,12,16,32", Commands: []string{"grid --systems mob,mob:plan=balanced --rtt 20ms --clusters 4,12,16,32 --size 120MB"}, Scaled: true})
	row(PaperRow{Figure: "5", Group: "fast", Series: "mob / balanced plan", Of: "4,12,16,32/mob", By: "4,12,16,32/" + balanced, Least: 1,
		Source: "section 4.1: MOB outperforms Balanced Multicasting in all cases"})
	for _, n := range []int{1, 2, 4, 8, 16} {
		name := fmt.Sprintf("two NICs, 4x%d", n)
		add(PaperCase{Name: name, Commands: []string{fmt.Sprintf("grid --systems mob,mob:plan=balanced --dual-nic 12.5MB --clusters 4x%d --size 240MB", n)},
			WAN: 250, Scaled: true, Long: n > 4})
		r := PaperRow{Figure: "6", Group: fmt.Sprintf("%d nodes", n), Series: "mob / balanced plan", Of: name + "/mob", By: name + "/" + balanced, Least: 1,
			Source: "section 4.2: MOB reaches 29 MB/s, balanced multicasting about 26 MB/s"}
		if n > 2 {
			r.Published, r.Tolerance = 29.0/26, 0.3
		}
		row(r)
		if n > 1 {
			row(PaperRow{Figure: "6", Group: fmt.Sprintf("%d nodes", n), Series: "mob / mob with 1 node", Of: name + "/mob", By: "two NICs, 4x1/mob", Least: 1.5,
				Source: "section 4.2: both overcome the throughput of a single wide-area interface; 29 MB/s with interfaces of 12.5 MB/s"})
		}
	}
}

// messageSeries is the series of rows by the size of a message, at a round trip.
func messageSeries(rtt string) string { return "mob / MagPIe, " + rtt }

func (t *paperTable) messages() {
	for _, rtt := range []string{"40ms", "100ms"} {
		for _, size := range []string{"32kB", "128kB", "512kB", "2MB", "8MB", "32MB", "128MB"} {
			name := size + ", " + rtt
			t.cases = append(t.cases, PaperCase{Paper: "mob", Name: name, Long: size == "128kB" || size == "2MB" || size == "128MB",
				Commands: []string{"grid --systems mob,magpie --rtt " + rtt + " --size " + size}})
			r := PaperRow{Paper: "mob", Figure: "text, fourth experiment", Group: size, Series: messageSeries(rtt), Of: name + "/mob", By: name + "/magpie",
				Least: 0.5, Source: "section 4.1: MOB always reached at least half the throughput of MagPIe", Why: "handshakes of a swarm take 9 round trips; a group has its connections before (docs/design/collectives.md)"}
			if size == "128MB" && rtt == "40ms" {
				r.Published, r.Tolerance, r.Source = 8.5/3, 0.5, "section 4.1: MagPIe never more than 3 MB/s, MOB up to 8.5 MB/s for 128 MB"
				r.Why = "16 nodes here; mob uses 0.9 of the bound, which is 12 MB/s on these links"
			}
			t.rows = append(t.rows, r)
		}
	}
}

func (t *paperTable) cooper() {
	add := func(name string, long bool, commands ...string) {
		t.cases = append(t.cases, PaperCase{Paper: "cooper", Name: name, Commands: commands, Long: long})
	}
	add("rounds", false, "sim --strategy permutation,rb --nodes 20,100,300 --blocks 200")
	add("batches", false, "sim --strategy sequential,overlap1,overlap2 --nodes 20 --blocks 16 --batches 2 --repeat 10")
	add("20 nodes", false, "grid --systems mob:strategy=permutation,mob:strategy=overlap2,mob:strategy=rb,rtorrent --clusters 20 --nic 1.875MB --size 100MB")
	for _, n := range []int{20, 100, 300} {
		group := fmt.Sprintf("%d nodes", n)
		limit := 200.0 + map[int]float64{20: 5, 100: 7, 300: 9}[n]
		t.rows = append(t.rows, PaperRow{Figure: "3, rounds", Group: group, Series: "k + log2 n / rounds", Of: fmt.Sprintf("rounds/permutation %d", n),
			By: fmt.Sprintf("rounds/bound %d", n), Published: limit / (limit + 4), Tolerance: 0.03, Source: "section 3: k + log2 n + 4 rounds"},
			PaperRow{Figure: "3, rounds", Group: group, Series: "permutation / rb", Of: fmt.Sprintf("rounds/permutation %d", n), By: fmt.Sprintf("rounds/rb %d", n),
				Published: (limit + 40) / (limit + 4), Tolerance: 0.05, Source: "section 3: random blocks take 30 to 50 rounds more"})
	}
	for _, r := range []PaperRow{
		{Figure: "18, rounds", Group: "2 batches", Series: "overlap1 / sequential", Of: "batches/overlap1 20", By: "batches/sequential 20", Published: 160.0 / 135, Source: "section 6.3: 160 s and 135 s",
			Why: "in rounds a batch costs only its log2 n rounds; there it also waits for encoders"},
		{Figure: "18, rounds", Group: "2 batches", Series: "overlap2 / sequential", Of: "batches/overlap2 20", By: "batches/sequential 20", Published: 160.0 / 128, Source: "section 6.3: 160 s and 128 s",
			Why: "in rounds a batch costs only its log2 n rounds; there it also waits for encoders"},
		{Figure: "16", Group: "share of the limit F/W", Series: "mob:strategy=permutation", Of: "20 nodes/mob:strategy=permutation", By: "20 nodes/bound", Published: 53.3 / 80, Source: "section 6.2: 80 s with one batch, the limit is 53.3 s",
			Why: "generations of 192 small blocks here instead of 16 large ones"},
		{Figure: "16", Group: "share of the limit F/W", Series: "mob:strategy=overlap2", Of: "20 nodes/mob:strategy=overlap2", By: "20 nodes/bound", Published: 53.3 / 60, Source: "section 6.2: 60 s with 3 batches and Overlap-2"},
		{Figure: "16", Group: "share of the limit F/W", Series: "mob:strategy=rb", Of: "20 nodes/mob:strategy=rb", By: "20 nodes/bound", Published: 53.3 / 115, Source: "section 6.2: 115 s with random blocks",
			Why: "blocks are smaller here, and maps of them cost less"},
		{Figure: "16", Group: "share of the limit F/W", Series: "rtorrent", Of: "20 nodes/rtorrent", By: "20 nodes/bound", Published: 53.3 / 106, Source: "section 6.2: 106 s with BitTorrent", Why: "a later rTorrent"},
		{Figure: "16", Group: "overlap2 / rb", Series: "mob:strategy=overlap2", Of: "20 nodes/mob:strategy=overlap2", By: "20 nodes/mob:strategy=rb", Least: 1, Source: "section 6.2: 48 % less time than random blocks"},
	} {
		t.rows = append(t.rows, r)
	}
	for i := range t.rows {
		if t.rows[i].Paper == "" {
			t.rows[i].Paper = "cooper"
		}
	}
}

func (t *paperTable) kascade() {
	add := func(c PaperCase) {
		c.Paper = "kascade"
		t.cases = append(t.cases, c)
	}
	row := func(r PaperRow) {
		r.Paper = "kascade"
		t.rows = append(t.rows, r)
	}
	for _, n := range []int{1, 10, 20, 50} {
		name := fmt.Sprintf("%d receivers", n)
		add(PaperCase{Name: name, Commands: []string{fmt.Sprintf("grid --systems mob --clusters %d --nic 12.5MB --size 240MB", n+1)}, Scaled: true, Long: n == 10})
		row(PaperRow{Figure: "7", Group: name, Series: "share of the link", Of: name + "/mob", By: name + "/bound", Published: 0.93, Source: "section IV-A: nearly saturates the links, which carry 0.94 of their rate as payload"})
	}
	add(PaperCase{Name: "200 receivers simulated", Commands: []string{"sim --clusters 201 --nic 125MB --size 100MB"}, Long: true})
	row(PaperRow{Figure: "7", Group: "200 receivers", Series: "share of the link, simulated", Of: "200 receivers simulated/mob", By: "200 receivers simulated/bound", Published: 0.93,
		Source: "section IV-A: scales to 200 nodes", Why: "100 MB take 0.8 s there, of which the start is a larger part than of 2 GB"})
	const took = 62.5 // seconds for 5 GB at 80 MB/s
	for _, k := range []struct {
		share, name string
		lost        float64
	}{{"2%@2s", "together", 1}, {"5%@2s", "together", 1}, {"10%@2s", "together", 1}, {"2%@2s+500ms", "in turn", 1}, {"5%@2s+500ms", "in turn", 3}, {"10%@2s+500ms", "in turn", 5}} {
		percent, _, _ := strings.Cut(k.share, "@")
		name := "kill " + percent + " " + k.name
		add(PaperCase{Name: name, Commands: []string{"grid --systems mob --clusters 51 --nic 12.5MB --size 240MB --kill " + k.share}, Scaled: true, Long: percent != "10%"})
		row(PaperRow{Figure: "15", Group: percent + " killed", Series: k.name, Of: name + "/mob", By: "50 receivers/mob", Published: took / (took + 2*k.lost), Least: 0.75,
			Source: "section IV-G: each timeout costs 1 s, of 62.5 s, with 100 nodes; failures together are found together"})
	}
	add(PaperCase{Name: "six sites", Commands: []string{"grid --systems mob:cast:there,taktuk --clusters 3,1,1,1,1,1 --rtt 16ms --nic 12.5MB --size 120MB"}, WAN: 125, Scaled: true})
	row(PaperRow{Figure: "13", Group: "six sites", Series: "mob:cast:there / taktuk", Of: "six sites/mob:cast:there", By: "six sites/taktuk", Least: 1, Source: "section IV-E: Kascade offers the best overall performance"})
	add(PaperCase{Name: "50 MB", Commands: []string{"grid --systems mob:cast:there,taktuk,kascade --clusters 20 --nic 12.5MB --size 50MB"}, Scaled: true})
	row(PaperRow{Figure: "14", Group: "50 MB", Series: "mob:cast:there / taktuk", Of: "50 MB/mob:cast:there", By: "50 MB/taktuk", Least: 1, Source: "section IV-F: all methods show similar characteristics"})
	row(PaperRow{Figure: "14", Group: "50 MB", Series: "mob:cast:there / kascade", Of: "50 MB/mob:cast:there", By: "50 MB/kascade", Least: 1, Source: "section IV-F: Kascade uses TakTuk to start itself on all nodes"})
}

func (t *paperTable) stable() {
	const planners = "stable,fpfr,dijkstra,random,flat"
	t.cases = append(t.cases, PaperCase{Paper: "stable", Name: "planners", Commands: []string{"planners --destinations 10,399 --algorithms " + planners}})
	others := func(name, suffix string) string {
		var all []string
		for _, p := range strings.Split(planners, ",")[1:] {
			all = append(all, p+suffix)
		}
		return name + "/" + strings.Join(all, "|")
	}
	for _, model := range PlanModels() {
		for _, links := range []string{"", ", asymmetric"} {
			for _, n := range []int{10, 399} {
				suffix := fmt.Sprintf(" %s%s %d", model, links, n)
				least := 1.0
				if links != "" {
					least = 0.97
				}
				t.rows = append(t.rows, PaperRow{Figure: "6, planned", Group: model + links, Series: fmt.Sprintf("stable / best other, %d", n), Of: "planners/stable" + suffix, By: others("planners", suffix),
					Least: least, Source: "section 4.1: the best in every symmetric condition; in asymmetric ones except for one case, by 3 %"})
			}
		}
	}
	const grid, systems = " --nic 9MB --size 72MB", " --systems mob:plan=stable,mob:plan=fpfr,mob:plan=dijkstra,mob:plan=random,mob:plan=flat"
	both := func(c PaperCase, shape string) {
		c.Paper, c.Sum = "stable", true
		name, sims := c.Name, c
		c.Commands = []string{"grid" + systems + shape + grid}
		sims.Name, sims.Long = name+" simulated", false
		for _, p := range strings.Split(planners, ",") {
			sims.Commands = append(sims.Commands, "sim --plan "+p+shape+grid)
		}
		t.cases = append(t.cases, c, sims)
	}
	own, rest := "mob:plan=stable", strings.ReplaceAll(others("", ""), "|", "|mob:plan=")
	rest = "mob:plan=" + strings.TrimPrefix(rest, "/")
	for _, f := range []struct{ figure, nodes, shape string }{
		{"7a", "10", " --clusters 7,1,2,1 --slow-node D0=1MB"},
		{"7b", "47", " --clusters 31,1,16,1 --slow-node D0=1MB"},
		{"7c", "105", " --clusters 60,9,35,2 --slow-node D0=1MB --slow-node D1=1MB"},
	} {
		c := PaperCase{Name: f.figure, WAN: 6, Scaled: true, Long: f.figure != "7a"}
		both(c, f.shape)
		for _, name := range []string{f.figure, f.figure + " simulated"} {
			t.rows = append(t.rows, PaperRow{Figure: "7a to 7c", Group: name, Series: "stable / best other", Of: name + "/" + own, By: name + "/" + rest, Published: 2.35, Tolerance: 0.15, Least: 1,
				Source: "section 4.2: 2.1 to 2.6 times the best other", Why: "the rates of its links are in a picture only; they are ours"})
		}
		t.rows = append(t.rows, PaperRow{Figure: "7a to 7c", Group: f.figure, Series: "grid / simulated", Of: f.figure + "/" + own, By: f.figure + " simulated/" + own, Least: 0.55,
			Factor: 1, Source: "section 4.2: 30 to 45 % less than simulated, since nodes that send and receive are slower"})
	}
	both(PaperCase{Name: "7d before"}, " --clusters 10")
	both(PaperCase{Name: "7d"}, " --clusters 11 --slow-node A5=1MB")
	for _, where := range []string{"", " simulated"} {
		for _, s := range []struct {
			planner string
			paper   float64
		}{{"stable", 0.975}, {"fpfr", 0.52}} {
			t.rows = append(t.rows, PaperRow{Figure: "7d", Group: s.planner + where, Series: "with a slow node / without", Of: "7d" + where + "/mob:plan=" + s.planner, By: "7d before" + where + "/mob:plan=" + s.planner,
				Published: s.paper, Source: "section 4.2: 2.5 % less with stable; depth-first drops to 52 %", Why: "the slow node has a ninth of the rate here; its rate in the paper is not given"})
		}
		t.rows = append(t.rows, PaperRow{Figure: "7d", Group: "stable" + where, Series: "stable / best other", Of: "7d" + where + "/" + own, By: "7d" + where + "/" + rest, Published: 1.5, Least: 1,
			Source: "section 4.2: 1.5 times the other two", Why: "links and slow node are ours"})
	}
	t.cases = append(t.cases, PaperCase{Paper: "stable", Name: "no relay", Commands: []string{"grid --systems mob:plan=chain --clusters 2 --nic 9MB --size 72MB"}},
		PaperCase{Paper: "stable", Name: "a relay", Commands: []string{"grid --systems mob:plan=chain --clusters 3 --nic 9MB --size 72MB"}})
	t.rows = append(t.rows, PaperRow{Figure: "text, relays", Group: "sends and receives at once", Series: "relay / receiver", Of: "a relay/mob:plan=chain", By: "no relay/mob:plan=chain", Published: 750.0 / 900,
		Source: "section 4.2: 900 Mbit/s in one direction, 750 in both at once", Why: "there the CPU is the limit; here it is not"},
		PaperRow{Figure: "text, relays", Group: "source with several trees", Series: "stable / bound of 10 receivers", Of: "7a/" + own, By: "7a simulated/" + own, Published: 0.625, Tolerance: 0.12,
			Source: "section 4.2: 55 to 70 % of the optimum of the simulation", Why: "there relays are limited by the CPU; here they are not"})
	for i := range t.rows {
		if t.rows[i].Paper == "" {
			t.rows[i].Paper = "stable"
		}
	}
}

func (t *paperTable) twister() {
	add := func(c PaperCase) {
		c.Paper = "twister"
		t.cases = append(t.cases, c)
	}
	row := func(r PaperRow) {
		r.Paper = "twister"
		t.rows = append(t.rows, r)
	}
	const chain = "mob:plan=chain"
	for _, size := range []string{"0.5", "1", "2"} {
		mb := map[string]string{"0.5": "50MB", "1": "100MB", "2": "200MB"}[size]
		add(PaperCase{Name: size + " GB, 1 receiver", Commands: []string{"grid --systems mob:plan=chain --clusters 2 --nic 12.5MB --size " + mb}, Scaled: true, Long: size != "1"})
		add(PaperCase{Name: size + " GB, 20 nodes", Commands: []string{"grid --systems mob:plan=chain --clusters (4x5) --nic 12.5MB --rack-uplink 12.5MB --size " + mb}, Scaled: true, Long: size != "1"})
		row(PaperRow{Figure: "table 7", Group: size + " GB", Series: "20 nodes / 1 receiver", Of: size + " GB, 20 nodes/" + chain, By: size + " GB, 1 receiver/" + chain, Published: map[string]float64{"0.5": 4.04 / 4.13, "1": 8.09 / 8.22, "2": 16.17 / 16.4}[size],
			Source: "table 7: 1 and 25 nodes", Why: relays})
	}
	add(PaperCase{Name: "chain simulated", Commands: []string{"sim --plan chain --clusters (4x5) --nic 12.5MB --rack-uplink 12.5MB --size 100MB", "sim --plan flat --clusters (4x5) --nic 12.5MB --rack-uplink 12.5MB --size 100MB"}})
	row(PaperRow{Figure: "table 7", Group: "naive, simulated", Series: "chain / naive, by receiver", Of: "chain simulated/" + chain, By: "chain simulated/mob:plan=flat", Factor: 1.0 / 19, Published: 202.0 / 8.22 / 25,
		Source: "table 7: 202 s and 8.22 s with 25 nodes"})
	add(PaperCase{Name: "150 receivers simulated", Commands: []string{"sim --plan chain --clusters 151 --nic 12.5MB --size 50MB"}, Long: true})
	row(PaperRow{Figure: "table 7", Group: "150 nodes, simulated", Series: "share of the link", Of: "150 receivers simulated/" + chain, By: "150 receivers simulated/bound", Published: 8.0 / 8.3,
		Source: "table 7: 8.30 s for 1 GB over 1 Gbit/s", Why: "a piece of 50 MB is a larger part of it than a chunk of 1 GB"})
	add(PaperCase{Name: "shuffled chain", Commands: []string{"grid --systems mob:plan=chain,mob:shuffled:plan=chain --clusters (4x5) --nic 12.5MB --rack-uplink 12.5MB --size 100MB"}, Scaled: true})
	row(PaperRow{Figure: "6", Group: "ordered by racks / shuffled", Series: chain, Of: "shuffled chain/" + chain, By: "shuffled chain/mob:shuffled:plan=chain", Least: 3, Published: 5, Tolerance: 0.35,
		Source: "section 6.2: 5 times faster than without topology", Why: "uplinks of racks carry one interface here, ten of 42 there"})
	const shuffle, reduced = "Shuffle, 16 x 1 MB", "Shuffle with local reduction"
	add(PaperCase{Name: shuffle, Commands: []string{"collective " + shuffle}})
	add(PaperCase{Name: reduced, Commands: []string{"collective " + reduced}})
	row(PaperRow{Figure: "9", Group: "time without / with reduction", Series: "mob", Of: reduced + "/mob", By: shuffle + "/mob", Factor: 8.0 / 4, Published: 10, Tolerance: 0.4,
		Source: "section 6.3: 10 % of the time; eight values merge to one there, four here"})
	row(PaperRow{Figure: "9", Group: "bytes without / with reduction", Series: "mob", Of: reduced + "/bytes", By: shuffle + "/bytes", Factor: 8.0 / 4, Published: 8,
		Source: "section 6.3: 1 TB to 125 GB; eight values merge to one there, four here"})
}
