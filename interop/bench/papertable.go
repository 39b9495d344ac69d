package bench

import (
	"fmt"
	"strings"
)

// PaperNames lists the papers.
func PaperNames() []string { return []string{"mob", "cooper", "kascade", "stable", "twister"} }

// Calibration lists the cases that say whether scaled ones are to be compared.
func Calibration() []PaperCase {
	run := []string{"grid --systems mob --scenario fast --size 120MB"}
	return []PaperCase{{Name: "4x4 at full speed", Commands: run}, {Name: "4x4 scaled", Commands: run, Scaled: true}}
}

// paperTable collects cases and rows of a paper.
type paperTable struct {
	paper string
	cases []PaperCase
	rows  []*PaperRow
}

// PaperTable returns the cases and the rows of all papers.
func PaperTable() ([]PaperCase, []*PaperRow) {
	t := new(paperTable)
	for i, add := range []func(){t.mob, t.cooper, t.kascade, t.stable, t.twister} {
		t.paper = PaperNames()[i]
		add()
	}
	return t.cases, t.rows
}

func (t *paperTable) run(c PaperCase, commands ...string) {
	c.Paper, c.Commands = t.paper, commands
	t.cases = append(t.cases, c)
}

// row adds a row. By is a system of the case of of, or a case and a system. Published and least may be zero.
func (t *paperTable) row(figure, group, series, of, by string, published, least float64, source, why string) *PaperRow {
	if !strings.Contains(by, "/") {
		name, _, _ := strings.Cut(of, "/")
		by = name + "/" + by
	}
	r := &PaperRow{t.paper, figure, group, series, of, by, published, 0.1, least, source, why}
	t.rows = append(t.rows, r)
	return r
}

// messageSeries is the series of rows by the size of a message, at a round trip.
func messageSeries(rtt string) string { return "mob / MagPIe, " + rtt }

func (t *paperTable) mob() {
	const (
		plan    = "mob:plan=balanced"
		systems = "grid --systems mob,mob:plan=balanced,aria2 --size 120MB"
		static  = "4.1: MOB performs similar to Balanced Multicasting in the static scenarios, and outperforms it in all three dynamic ones"
	)
	scenarios := []string{fast, slow, fastSlow, slowFast, mayhem}
	least := map[string]float64{fast: 0.9, slow: 0.9, fastSlow: 1, slowFast: 1, mayhem: 1}
	for _, s := range scenarios {
		t.run(PaperCase{Name: s, Initial: s != mayhem}, systems+" --rtt 20ms --scenario "+s)
		for _, nodes := range []string{"4x16", "4,12,16,32"} {
			shape := fmt.Sprintf(" --rtt 20ms --size 15MB --scenario %s --clusters %s", s, nodes)
			t.run(PaperCase{Name: s + " " + nodes, Initial: s != mayhem, Long: s != fast && s != mayhem || nodes != "4x16"}, "sim"+shape, "sim --plan balanced"+shape)
		}
	}
	for _, s := range scenarios {
		for _, system := range []string{"mob", plan, "aria2"} {
			t.row("4, share of the bound", s, system, s+"/"+system, "bound", 0, 0, "4.1: the rates are in a picture only", "")
		}
	}
	for _, s := range scenarios {
		t.row("4", s, "mob / aria2", s+"/mob", "aria2", 0, 1, "4.1: BitTorrent always performs worst", "")
		t.row("4", s, "mob / balanced plan", s+"/mob", plan, 0, least[s], static, "")
	}
	for i, nodes := range []string{"4x16", "4,12,16,32"} {
		for _, s := range scenarios {
			t.row(fmt.Sprintf("%d, simulated", 4+i), s, "mob / balanced plan, "+nodes, s+" "+nodes+"/mob", plan, 0, least[s], static, "15 MB are too short for the start of 64 nodes")
		}
	}
	t.row("4, changes", "mayhem / fast", "mob", "mayhem/mob", "fast/mob", 0.62, 0, "4.1: 62 % of its throughput in fast", "the draws of the links differ")
	t.row("4, changes", "mayhem / fast", plan, "mayhem/"+plan, "fast/"+plan, 0.42, 0, "4.1: 42 % of its throughput in fast", "the draws of the links differ")
	t.row("4, changes", "slow-fast / slow", plan, "slow-fast/"+plan, "slow/"+plan, 1, 0, "4.1: the same throughput as in slow",
		"senders there shape the rates of trees; here a tree is as fast as its links")
	t.run(PaperCase{Name: "100 ms"}, systems+" --rtt 100ms")
	for i, system := range []string{"mob", plan, "aria2"} {
		t.row("text, third experiment", "100 ms / 20 ms", system, "100 ms/"+system, "fast/"+system, []float64{0.925, 0.997, 0.62}[i], 0,
			"4.1: 7.5 % slower for MOB, 0.3 % for Balanced Multicasting, 38 % for BitTorrent", "16 nodes here, and shorter contents, of which the start is a larger part")
	}
	t.run(PaperCase{Name: "4,12,16,32", Scaled: true, Long: true}, "grid --systems mob,mob:plan=balanced --rtt 20ms --clusters 4,12,16,32 --size 120MB")
	t.row("5", "fast", "mob / balanced plan", "4,12,16,32/mob", plan, 0, 1, "4.1: MOB outperforms Balanced Multicasting in all cases", "")
	for _, n := range []int{1, 2, 4, 8, 16} {
		name, group := fmt.Sprintf("two NICs 4x%d", n), fmt.Sprintf("4x%d", n)
		t.run(PaperCase{Name: name, WAN: 250, Scaled: true, Long: n != 1 && n != 4},
			fmt.Sprintf("grid --systems mob,mob:plan=balanced --dual-nic 12.5MB --size 120MB --clusters 4x%d", n))
		t.row("6", group, "mob / balanced plan", name+"/mob", plan, 29.0/26, 0.9, "4.2: MOB reaches 29 MB/s, Balanced about 26 MB/s",
			"the LAN was the limit there, and is not here").Tolerance = 0.3
		if n > 1 {
			t.row("6", group, "mob / mob 4x1", name+"/mob", "two NICs 4x1/mob", 0, 1.5, "4.2: 29 MB/s overcome a single interface of 12.5 MB/s", "")
		}
	}
	for _, rtt := range []string{"40ms", "100ms"} {
		for _, size := range []string{"32kB", "128kB", "512kB", "2MB", "8MB", "32MB", "128MB"} {
			name := size + " " + rtt
			t.run(PaperCase{Name: name, Long: size == "128kB" || size == "2MB" || size == "128MB"}, "grid --systems mob,magpie --rtt "+rtt+" --size "+size)
			t.row("text, fourth experiment", size, messageSeries(rtt), name+"/mob", "magpie", 0, 0.5, "4.1: MOB reached at least half the throughput of MagPIe",
				"the handshakes of a swarm take nine round trips; a group has its connections before the message")
		}
	}
	t.row("text, largest messages", "128 MB", messageSeries("40ms"), "128MB 40ms/mob", "magpie", 8.5/3, 1, "4.1: MagPIe up to 3 MB/s, MOB up to 8.5 MB/s",
		"mob uses 0.9 of the bound of 12 MB/s").Tolerance = 0.5
}

func (t *paperTable) cooper() {
	t.run(PaperCase{Name: "rounds"}, "sim --strategy permutation,rb --nodes 20,100,300 --blocks 200")
	for i, n := range []int{20, 100, 300} {
		limit := float64(205 + 2*i) // k + log2 n
		group, of := fmt.Sprintf("%d nodes", n), fmt.Sprintf("rounds/permutation %d", n)
		t.row("3, rounds", group, "limit", of, fmt.Sprintf("bound %d", n), limit/(limit+4), 0, "3: k + log2 n + 4 rounds", "").Tolerance = 0.03
		t.row("3, rounds", group, "permutation / rb", of, fmt.Sprintf("rb %d", n), (limit+40)/(limit+4), 1, "3: random blocks take 30 to 50 rounds more", "")
	}
	t.run(PaperCase{Name: "batches"}, "sim --strategy sequential,overlap1,overlap2 --nodes 20 --blocks 16 --batches 2 --repeat 10")
	const encoders = "in rounds a batch costs log2 n of them; there it also waits for encoders"
	t.row("18, rounds", "2 batches", "overlap1 / sequential", "batches/overlap1 20", "sequential 20", 160.0/135, 1, "6.3: 160 s and 135 s", encoders)
	t.row("18, rounds", "2 batches", "overlap2 / sequential", "batches/overlap2 20", "sequential 20", 160.0/128, 1, "6.3: 160 s and 128 s", encoders)
	t.run(PaperCase{Name: "20 nodes"},
		"grid --systems mob:strategy=permutation,mob:strategy=overlap2,mob:strategy=rb --clusters 20 --nic 1.875MB --size 100MB")
	t.run(PaperCase{Name: "20 nodes, BitTorrent", Long: true}, "grid --systems rtorrent --clusters 20 --nic 1.875MB --size 100MB")
	t.row("16", "share of F/W", "rtorrent", "20 nodes, BitTorrent/rtorrent", "bound", 53.3/106, 0, "6.2: 106 s, where F/W is 53.3 s", "another rTorrent")
	for _, s := range []struct {
		system  string
		seconds float64
		why     string
	}{
		{"mob:strategy=permutation", 80, "192 small blocks here, 16 large ones there"}, {"mob:strategy=overlap2", 60, "a piece of the content with --quick is one batch"},
		{"mob:strategy=rb", 115, "smaller blocks here, so that reports cost less"},
	} {
		t.row("16", "share of F/W", s.system, "20 nodes/"+s.system, "bound", 53.3/s.seconds, 0, fmt.Sprintf("6.2: %g s, where F/W is 53.3 s", s.seconds), s.why)
	}
	t.row("16", "order", "overlap2 / rb", "20 nodes/mob:strategy=overlap2", "mob:strategy=rb", 0, 1, "6.2: 48 % less time than random blocks", "")
}

func (t *paperTable) kascade() {
	for _, n := range []int{1, 10, 20, 50} {
		name := fmt.Sprintf("%d nodes and the source", n)
		t.run(PaperCase{Name: name, Scaled: true, Long: n < 20}, fmt.Sprintf("grid --clusters %d --nic 12.5MB --size 120MB --systems mob", n+1))
		t.row("7", name, "share of the link", name+"/mob", "bound", 0.95, 0, "IV-A: nearly saturates the links", "")
	}
	t.run(PaperCase{Name: "200 receivers", Long: true}, "sim --clusters 201 --nic 125MB --size 60MB")
	t.row("7", "200 receivers", "share of the link, simulated", "200 receivers/mob", "bound", 0.95, 0, "IV-A: scales to 200 nodes", "60 MB take 0.5 s there, as long as the start")
	for _, k := range []struct {
		percent       int
		series, every string
		lost          float64 // seconds of 62.5
	}{{2, "together", "", 1}, {5, "together", "", 1}, {10, "together", "", 1}, {2, "in turn", "+500ms", 2}, {5, "in turn", "+500ms", 5}, {10, "in turn", "+500ms", 10}} {
		name := fmt.Sprintf("kill %d%%@2s%s", k.percent, k.every)
		t.run(PaperCase{Name: name, Scaled: true, Long: k.percent < 10}, "grid --systems mob --clusters 51 --nic 12.5MB --size 120MB --"+name)
		t.row("15", fmt.Sprintf("%d %%", k.percent), k.series,
			name+"/mob", "50 nodes and the source/mob", 62.5/(62.5+k.lost), 0.75, "IV-G: a timeout costs 1 s of 62.5 s; one by one with 100 nodes 2, 5 and 10 of them", "")
	}
	t.run(PaperCase{Name: "six sites", WAN: 125, Scaled: true, Long: true}, "grid --systems mob:cast:there,taktuk --clusters 3,1,1,1,1,1 --rtt 16ms --nic 12.5MB --size 120MB")
	t.row("13", "six sites", "mob:cast:there / taktuk", "six sites/mob:cast:there", "taktuk", 0, 1, "IV-E: Kascade offers the best overall performance", "")
	t.run(PaperCase{Name: "50 MB", Scaled: true}, "grid --systems mob:cast:there,taktuk,kascade --clusters 20 --nic 12.5MB --size 50MB")
	t.row("14", "50 MB", "mob:cast:there / taktuk", "50 MB/mob:cast:there", "taktuk", 0, 1, "IV-F: all methods show similar characteristics", "")
	t.row("14", "50 MB", "mob:cast:there / kascade", "50 MB/mob:cast:there", "kascade", 0, 1, "IV-F: Kascade uses TakTuk to start", "")
}

func (t *paperTable) stable() {
	planners := []string{"stable", "fpfr", "dijkstra", "random", "flat"}
	t.run(PaperCase{Name: "planners"}, "planners --destinations 10,399 --algorithms "+strings.Join(planners, ","))
	rest := func(prefix, suffix string) string {
		return prefix + strings.Join(planners[1:], suffix+"|"+prefix) + suffix
	}
	for i, links := range []string{"", ", asymmetric"} {
		least := []float64{1, 0.97}[i]
		for _, model := range PlanModels() {
			for _, n := range []int{10, 399} {
				suffix := fmt.Sprintf(" %s%s %d", model, links, n)
				t.row("6"+links, model, fmt.Sprintf("stable / best other, %d", n), "planners/stable"+suffix, rest("", suffix), 0, least,
					"4.1: the best in every symmetric condition; in asymmetric ones except for one case, by 3 %", "")
			}
		}
	}
	both := func(c PaperCase, flags string) {
		flags += " --nic 9MB --size 60MB"
		var sims []string
		for _, p := range planners {
			sims = append(sims, "sim --plan "+p+flags)
		}
		c.Sum = true
		t.run(c, "grid --systems mob:plan="+strings.Join(planners[:3], ",mob:plan=")+flags)
		c.Name, c.Long = c.Name+" simulated", false
		t.run(c, sims...)
	}
	const own, ours = "/mob:plan=stable", "the rates of links are in a picture there, and ours here"
	for i, figure := range []string{"7a", "7b", "7c"} {
		shape := []string{"7,1,2,1", "31,1,16,1", "60,9,35,2 --slow-node D1=3MB"}[i]
		both(PaperCase{Name: figure, WAN: 6, Scaled: true, Long: figure != "7a"}, " --slow-node D0=3MB --clusters "+shape)
		for _, name := range []string{figure, figure + " simulated"} {
			t.row("7a to 7c", name, "stable / best other", name+own, rest("mob:plan=", ""), 2.35, 1, "4.2: 2.1 to 2.6 times the best other", ours).Tolerance = 0.15
		}
		t.row("7a to 7c", figure, "grid / simulation", figure+own, figure+" simulated"+own, 0.625, 0.55, "4.2: 30 to 45 % less than the optimum of the simulation",
			"nodes that send and receive at once were limited by the CPU there").Tolerance = 0.12
	}
	both(PaperCase{Name: "7d without"}, " --clusters 10")
	for i, name := range []string{"7d, slow node last", "7d, slow node first"} {
		both(PaperCase{Name: name}, " --clusters 11 --slow-node "+[]string{"A10=4.7MB", "A1=4.7MB"}[i])
		for _, where := range []string{"", " simulated"} {
			t.row("7d", name+where, "stable / stable without it", name+where+own, "7d without"+where+own, 0.975, 0, "4.2: 2.5 % less with a slow node",
				"the requests of the hosts after a slow one wait behind the blocks that fill its interface; no host requests from the last one")
			t.row("7d", name+where, "stable / best other", name+where+own, rest("mob:plan=", ""), 1.5, 0.95, "4.2: 1.5 times Dijkstra and random pipelines", ours)
			if i > 0 {
				t.row("7d", name+where, "fpfr / fpfr without it", name+where+"/mob:plan=fpfr", "7d without"+where+"/mob:plan=fpfr", 0.52, 0, "4.2: depth-first drops to 52 %",
					"the slow node has 52 % of the rate; requests of the hosts after it wait behind the blocks that fill its interface")
			}
		}
	}
	for _, n := range []string{"2", "3"} {
		t.run(PaperCase{Name: "chain of " + n}, "grid --systems mob:plan=chain --nic 9MB --size 60MB --clusters "+n)
	}
	t.row("text, relays", "sends and receives", "relay / receiver", "chain of 3/mob:plan=chain", "chain of 2/mob:plan=chain", 750.0/900, 0.75,
		"4.2: 900 Mbit/s in one direction, 750 in both directions", "the CPU was the limit there")
}

func (t *paperTable) twister() {
	const chain, racks = "mob:plan=chain", " --clusters (4x5) --nic 12.5MB --rack-uplink 12.5MB --size "
	for _, s := range []struct {
		size, content string
		published     float64
	}{{"0.5 GB", "50MB", 4.04 / 4.13}, {"1 GB", "100MB", 8.09 / 8.22}, {"2 GB", "200MB", 16.17 / 16.4}} {
		t.run(PaperCase{Name: s.size + " to 1", Scaled: true, Long: s.size != "1 GB"}, "grid --systems mob:plan=chain --clusters 2 --nic 12.5MB --size "+s.content)
		t.run(PaperCase{Name: s.size + " to 19", Scaled: true, Long: s.size != "1 GB"}, "grid --systems mob:plan=chain"+racks+s.content)
		t.row("table 7", s.size, "20 nodes / 1 receiver", s.size+" to 19/"+chain, s.size+" to 1/"+chain, s.published, 0, "table 7: 25 nodes and 1", "relays of plans lose 4 to 9 %")
	}
	t.run(PaperCase{Name: "naive"}, "sim --plan chain"+racks+"25MB", "sim --plan flat"+racks+"25MB")
	t.row("table 7", "19 receivers, simulated", "chain / naive", "naive/"+chain, "mob:plan=flat", 202.0/8.22*19/25, 3, "table 7: 8.22 s and 202 s with 25 nodes; 19/25 of that ratio",
		"all pieces of a short content are a larger part of a chain")
	t.run(PaperCase{Name: "150 receivers", Long: true}, "sim --plan chain --clusters 151 --nic 12.5MB --size 25MB")
	t.row("table 7", "150 receivers, simulated", "share of the link", "150 receivers/"+chain, "bound", 8.0/8.3, 0, "table 7: 8.30 s for 1 GB", "each of 150 relays adds a piece, of 25 MB")
	t.run(PaperCase{Name: "shuffled chain", Scaled: true}, "grid --systems mob:plan=chain,mob:shuffled:plan=chain"+racks+"100MB")
	t.row("6", "by racks / shuffled", "chain", "shuffled chain/"+chain, "mob:shuffled:plan=chain", 5, 3, "6.2: 5 times faster than without topology",
		"an uplink has the rate of one of five interfaces here, of ten of 42 there").Tolerance = 0.35
	const plain, merged = "Shuffle, 16 x 1 MB", "Shuffle with local reduction"
	t.run(PaperCase{Name: plain}, "collective "+plain)
	t.run(PaperCase{Name: merged}, "collective "+merged)
	t.row("9", "time", "with reduction / without", merged+"/mob", plain+"/mob", 5, 3, "6.3: 10 % of the time where eight values merge to one; here four do", "").Tolerance = 0.35
	t.row("9", "bytes", "with reduction / without", merged+"/bytes", plain+"/bytes", 4, 3, "6.3: 1 TB to 125 GB where eight values merge to one; here four do", "")
}
