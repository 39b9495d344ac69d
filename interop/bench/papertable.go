package bench

import (
	"slices"
	"strings"
)

// PaperNames lists the papers.
func PaperNames() []string { return []string{"mob", "cooper", "kascade", "stable", "twister"} }

// Names of systems that follow plans, and of cases.
const (
	balanced   = "mob:plan=balanced"
	stable     = "mob:plan=stable"
	fpfr       = "mob:plan=fpfr"
	chain      = "mob:plan=chain"
	fullSpeed  = "4x4 at full speed"
	scaledDown = "4x4 scaled"
)

// paperCases lists the cases of all papers. TestQuickTime sums the times of the cases of --quick.
func paperCases() []PaperCase {
	const (
		three     = "grid --systems mob,mob:plan=balanced,aria2 --size 120MB"
		simulated = "sim --systems mob,mob:plan=balanced --rtt 20ms --size 60MB --scenario * --clusters "
		cooper    = "grid --clusters 20 --nic 1.875MB --size 100MB --systems "
		kascade   = "grid --nic 12.5MB --size 120MB --systems mob --clusters "
		racks     = "--clusters (4x5) --nic 12.5MB --rack-uplink 12.5MB --size "
	)
	return slices.Concat([]PaperCase{
		{Name: fullSpeed, Command: "grid --systems mob --scenario fast --size 120MB", Quick: "90MB"},
		{Name: scaledDown, Command: "grid --systems mob --scenario fast --size 120MB", Scaled: true, Quick: "90MB"},

		{Name: "{fast,slow,fast-slow,slow-fast,mayhem}", Command: three + " --rtt 20ms --scenario *", Scaled: true, Quick: "60MB"},
		{Name: "{fast,mayhem} 4x16", Command: simulated + "4x16", Quick: "30MB"},
		{Name: "{slow,fast-slow,slow-fast} 4x16", Command: simulated + "4x16"},
		{Name: "{fast,slow,fast-slow,slow-fast,mayhem} 4 to 32", Command: simulated + "4,12,16,32"},
		{Name: "100 ms", Command: three + " --rtt 100ms", Scaled: true},
		{Name: "64 nodes", Command: "grid --systems mob,mob:plan=balanced --rtt 20ms --clusters 4,12,16,32 --size 120MB", Scaled: true},
		{Name: "two NICs 4x{1,2,4,8,16}", Command: "grid --systems mob,mob:plan=balanced --dual-nic 12.5MB --size 120MB --clusters 4x*", WAN: 250, Scaled: true},
		{Name: "{32kB,512kB,8MB} 40ms", Command: "grid --systems mob,magpie --rtt 40ms --size *", Quick: "same"},
		{Name: "{128kB,2MB,32MB,128MB} 40ms", Command: "grid --systems mob,magpie --rtt 40ms --size *"},
		{Name: "{32kB,128kB,512kB,2MB,8MB,32MB,128MB} 100ms", Command: "grid --systems mob,magpie --rtt 100ms --size *"},

		{Name: "rounds 20", Command: "rounds --strategy permutation,rb --blocks 200 --nodes 20", Quick: "same"},
		{Name: "rounds {100,300}", Command: "rounds --strategy permutation,rb --blocks 200 --nodes *"},
		{Name: "batches", Command: "rounds --strategy sequential,overlap1,overlap2 --nodes 20 --blocks 16 --batches 2 --repeat 10", Quick: "same"},
		{Name: "20 nodes", Command: cooper + "mob:strategy=permutation,mob:strategy=overlap2,mob:strategy=rb"},
		{Name: "20 nodes, BitTorrent", Command: cooper + "rtorrent"},

		{Name: "{21,51} nodes", Command: kascade + "*", Scaled: true, Quick: "60MB"},
		{Name: "{2,11} nodes", Command: kascade + "*", Scaled: true},
		{Name: "201 nodes", Command: "sim --clusters 201 --nic 12.5MB --size 60MB"},
		{Name: "kill 10%@2s", Command: kascade + "51 --kill 10%@2s", Scaled: true, Quick: "60MB"},
		{Name: "kill {2%@2s,5%@2s,2%@2s+500ms,5%@2s+500ms,10%@2s+500ms}", Command: kascade + "51 --kill *", Scaled: true},
		{Name: "six sites", Command: "grid --systems mob:cast:there,taktuk --clusters 3,1,1,1,1,1 --rtt 16ms --nic 12.5MB --size 120MB", WAN: 125, Scaled: true},
		{Name: "50 MB", Command: "grid --systems mob:cast:there,taktuk,kascade --clusters 20 --nic 12.5MB --size 50MB", Scaled: true},

		{Name: "planners", Command: "planners --destinations 10,399 --algorithms stable,fpfr,dijkstra,random,flat", Quick: "same"},
		{Name: "chain of {2,3}", Command: "grid --systems mob:plan=chain --nic 9MB --size 60MB --clusters *"},

		{Name: "{50MB,100MB,200MB} to 1", Command: "grid --systems mob:plan=chain --clusters 2 --nic 12.5MB --size *", Scaled: true},
		{Name: "{50MB,100MB,200MB} to 19", Command: "grid --systems mob:plan=chain " + racks + "*", Scaled: true},
		{Name: "naive", Command: "sim --systems mob:plan=chain,mob:plan=flat " + racks + "25MB"},
		{Name: "150 receivers", Command: "sim --systems mob:plan=chain --clusters 151 --nic 12.5MB --size 25MB"},
		{Name: "shuffled chain", Command: "grid --systems mob:plan=chain,mob:shuffled:plan=chain " + racks + "100MB", Scaled: true, Quick: "25MB"},
		{Name: "shuffle", Command: "collective Shuffle, 16 x 1 MB", Quick: "same"},
		{Name: "reduction", Command: "collective Shuffle with local reduction", Quick: "same"},
	},
		stableCases("7a", "7,1,2,1 --slow-node D0=3MB", true, "30MB"),
		stableCases("7b", "31,1,16,1 --slow-node D0=3MB", true, ""),
		stableCases("7c", "60,9,35,2 --slow-node D0=3MB --slow-node D1=3MB", true, ""),
		stableCases("7d without", "10", false, "30MB"),
		stableCases("7d slow last", "11 --slow-node A10=4.7MB", false, ""),
		stableCases("7d slow first", "11 --slow-node A1=4.7MB", false, "30MB"),
	)
}

// stableCases lists the cases of a shape on the grid, and in the simulator with all planners.
func stableCases(name, clusters string, scaled bool, quick string) []PaperCase {
	flags := " --nic 9MB --size 60MB --clusters " + clusters
	return []PaperCase{
		{Name: name, Command: "grid --systems mob:plan=stable,mob:plan=fpfr,mob:plan=dijkstra" + flags, WAN: 6, Sum: true, Scaled: scaled, Quick: quick},
		{Name: name + " simulated", Command: "sim --systems mob:plan=stable," + rivals("mob:plan=", "", ",") + flags, WAN: 6, Sum: true, Scaled: scaled, Quick: pick(quick == "", "", "same")},
	}
}

// rivals joins the names of the planners that the paper compares with stable, with texts before and after each.
func rivals(before, after, separator string) string {
	return before + strings.Join([]string{"fpfr", "dijkstra", "random", "flat"}, after+separator+before) + after
}

// paperFigures lists the figures of all papers.
func paperFigures() []PaperFigure {
	rest := rivals("mob:plan=", "", "|")
	return []PaperFigure{
		{"mob, figure 4, share of the bound", 0.1, "4.1: the rates are in a picture only", "", []PaperRow{
			{"{fast,slow,fast-slow,slow-fast,mayhem}", "mob", "*/mob", "bound", 0, 0},
			{"{fast,slow,fast-slow,slow-fast,mayhem}", balanced, "*/" + balanced, "bound", 0, 0},
			{"{fast,slow,fast-slow,slow-fast,mayhem}", "aria2", "*/aria2", "bound", 0, 0},
		}},
		{"mob, figures 4 and 5", 0.1, "4.1: BitTorrent always performs worst; MOB performs similar to Balanced Multicasting in the static scenarios, " +
			"and outperforms it in the three dynamic ones", "", []PaperRow{
			{"{fast,slow,fast-slow,slow-fast,mayhem}", "mob / aria2", "*/mob", "aria2", 0, 1},
			{"{fast,slow}", "mob / balanced plan", "*/mob", balanced, 0, 0.9},
			{"{fast-slow,slow-fast,mayhem}", "mob / balanced plan", "*/mob", balanced, 0, 1},
			{"{fast,slow}", "4x16, simulated", "* 4x16/mob", balanced, 0, 0.9},
			{"{fast-slow,slow-fast,mayhem}", "4x16, simulated", "* 4x16/mob", balanced, 0, 1},
			{"{fast,slow}", "4 to 32, simulated", "* 4 to 32/mob", balanced, 0, 0.9},
			{"{fast-slow,slow-fast,mayhem}", "4 to 32, simulated", "* 4 to 32/mob", balanced, 0, 1},
			{"fast", "4 to 32", "64 nodes/mob", balanced, 0, 1},
		}},
		{"mob, figure 4, changes", 0.1, "4.1: in mayhem MOB has 62 % of its throughput in fast, and Balanced Multicasting 42 %; its throughput in slow-fast is that in slow",
			"the links draw other rates; senders there shape the rates of trees, and here a tree is as fast as its links", []PaperRow{
				{"mayhem / fast", "mob", "mayhem/mob", "fast/mob", 0.62, 0},
				{"mayhem / fast", balanced, "mayhem/" + balanced, "fast/" + balanced, 0.42, 0},
				{"slow-fast / slow", balanced, "slow-fast/" + balanced, "slow/" + balanced, 1, 0},
			}},
		{"mob, third experiment", 0.1, "4.1: with 100 ms MOB is 7.5 % slower, Balanced Multicasting 0.3 %, and BitTorrent 38 %",
			"16 nodes here, and the start is a larger part of a shorter content", []PaperRow{
				{"100 ms / 20 ms", "mob", "100 ms/mob", "fast/mob", 0.925, 0},
				{"100 ms / 20 ms", balanced, "100 ms/" + balanced, "fast/" + balanced, 0.997, 0},
				{"100 ms / 20 ms", "aria2", "100 ms/aria2", "fast/aria2", 0.62, 0},
			}},
		{"mob, figure 6", 0.3, "4.2: MOB reaches 29 MB/s and Balanced Multicasting about 26 MB/s, over interfaces of 12.5 MB/s",
			"the LAN was the limit there, and is not here", []PaperRow{
				{"4x{1,2,4,8,16}", "mob / balanced plan", "two NICs 4x*/mob", balanced, 29.0 / 26, 0.9},
				{"4x{2,4,8,16}", "mob / mob 4x1", "two NICs 4x*/mob", "two NICs 4x1/mob", 0, 1.5},
			}},
		{"mob, " + messages + "40ms", 0.5, "4.1: MOB is faster than MagPIe from close to 512 kB on, and has at least half its throughput; with 128 MB 8.5 MB/s and 3 MB/s",
			"the handshakes of a swarm take nine round trips; a group has its connections before; mob uses 0.9 of the bound of 12 MB/s", []PaperRow{
				{"{32kB,128kB,512kB,2MB,8MB,32MB}", "mob / MagPIe", "* 40ms/mob", "magpie", 0, 0.5},
				{"128MB", "mob / MagPIe", "128MB 40ms/mob", "magpie", 8.5 / 3, 1},
			}},
		{"mob, " + messages + "100ms", 0.1, "4.1: MOB is faster than MagPIe from around 32 MB on, and has at least half its throughput",
			"the handshakes of a swarm take nine round trips; a group has its connections before", []PaperRow{
				{"{32kB,128kB,512kB,2MB,8MB,32MB,128MB}", "mob / MagPIe", "* 100ms/mob", "magpie", 0, 0.5},
			}},
		{"cooper, figure 3, rounds", 0.05, "3: k + log2 n + 4 rounds; random blocks take 30 to 50 rounds more", "", []PaperRow{
			{"{20,100,300} nodes", "permutation / limit", "rounds */permutation *", "bound *", 0.98, 0},
			{"{20,100,300} nodes", "permutation / rb", "rounds */permutation *", "rb *", 1.17, 1},
		}},
		{"cooper, figure 18, rounds", 0.1, "6.3: two batches take 160 s, 135 s with overlap1 and 128 s with overlap2",
			"in rounds a batch costs log2 n of them; there it also waits for encoders", []PaperRow{
				{"2 batches", "overlap1 / sequential", "batches/overlap1 20", "sequential 20", 160.0 / 135, 1},
				{"2 batches", "overlap2 / sequential", "batches/overlap2 20", "sequential 20", 160.0 / 128, 1},
			}},
		{"cooper, figure 16", 0.1, "6.2: F/W is 53.3 s; permutation takes 80 s, overlap2 60 s, random blocks 115 s and rTorrent 106 s",
			"192 small blocks here, 16 large ones there; reports of blocks cost less here; another rTorrent", []PaperRow{
				{"share of F/W", "permutation", "20 nodes/mob:strategy=permutation", "bound", 53.3 / 80, 0},
				{"share of F/W", "overlap2", "20 nodes/mob:strategy=overlap2", "bound", 53.3 / 60, 0},
				{"share of F/W", "rb", "20 nodes/mob:strategy=rb", "bound", 53.3 / 115, 0},
				{"share of F/W", "rtorrent", "20 nodes, BitTorrent/rtorrent", "bound", 53.3 / 106, 0},
				{"order", "overlap2 / rb", "20 nodes/mob:strategy=overlap2", "mob:strategy=rb", 0, 1},
			}},
		{"kascade, figure 7", 0.1, "IV-A: nearly saturates the links, up to 200 nodes", "a node has at most 128 sessions in its cluster, so a third of 200 receivers have none with the source", []PaperRow{
			{"{2,11,21,51} nodes", "share of the link", "* nodes/mob", "bound", 0.95, 0},
			{"201 nodes", "share of the link, simulated", "201 nodes/mob", "bound", 0.95, 0},
		}},
		{"kascade, figure 15", 0.1, "IV-G: a timeout costs 1 s of 62.5 s; killed in turn, 2, 5 and 10 of 100 nodes cost as many", "", []PaperRow{
			{"{2,5,10} %", "together", "kill *%@2s/mob", "51 nodes/mob", 62.5 / 63.5, 0.75},
			{"2 %", "in turn", "kill 2%@2s+500ms/mob", "51 nodes/mob", 62.5 / 64.5, 0.75},
			{"5 %", "in turn", "kill 5%@2s+500ms/mob", "51 nodes/mob", 62.5 / 67.5, 0.75},
			{"10 %", "in turn", "kill 10%@2s+500ms/mob", "51 nodes/mob", 62.5 / 72.5, 0.75},
		}},
		{"kascade, figures 13 and 14", 0.1, "IV-E: Kascade is the fastest between sites; IV-F: all start in similar times, Kascade by TakTuk", "", []PaperRow{
			{"{six sites,50 MB}", "mob:cast:there / taktuk", "*/mob:cast:there", "taktuk", 0, 1},
			{"50 MB", "mob:cast:there / kascade", "50 MB/mob:cast:there", "kascade", 0, 1},
		}},
		{"stable, figure 6", 0.1, "4.1: the best in every symmetric condition, and in asymmetric ones except for one case, by 3 %", "", []PaperRow{
			{"{low,high,mixed,clusters}", "10 nodes", "planners/stable * 10", rivals("", " * 10", "|"), 0, 1},
			{"{low,high,mixed,clusters}", "399 nodes", "planners/stable * 399", rivals("", " * 399", "|"), 0, 1},
			{"{low,high,mixed,clusters}", "10 nodes, asymmetric", "planners/stable *, asymmetric 10", rivals("", " *, asymmetric 10", "|"), 0, 0.97},
			{"{low,high,mixed,clusters}", "399 nodes, asymmetric", "planners/stable *, asymmetric 399", rivals("", " *, asymmetric 399", "|"), 0, 0.97},
		}},
		{"stable, figures 7a to 7c", 0.15, "4.2: 2.1 to 2.6 times the best other, and 30 to 45 % less than the optimum of the simulation",
			"the rates of links are in a picture there, and ours here; nodes that send and receive were limited by the CPU there", []PaperRow{
				{"{7a,7b,7c}", "stable / best other", "*/" + stable, rest, 2.35, 1},
				{"{7a,7b,7c}", "stable / best other, simulated", "* simulated/" + stable, rest, 2.35, 1},
				{"{7a,7b,7c}", "grid / simulation", "*/" + stable, "* simulated/" + stable, 0.625, 0.55},
			}},
		{"stable, figure 7d", 0.1, "4.2: 2.5 % less with a slow node, and 1.5 times Dijkstra and random pipelines; depth-first drops to 52 %",
			"slow hosts are last in the pipelines of stable here, and no host waits for them", []PaperRow{
				{"slow {last,last simulated,first,first simulated}", "stable / best other", "7d slow */" + stable, rest, 1.5, 0.95},
				{"slow {last,first}", "stable / without it", "7d slow */" + stable, "7d without/" + stable, 0.975, 0},
				{"slow {last,first} simulated", "stable / without it", "7d slow * simulated/" + stable, "7d without simulated/" + stable, 0.975, 0},
				{"slow first", "fpfr / without it", "7d slow first/" + fpfr, "7d without/" + fpfr, 0.52, 0},
				{"slow first simulated", "fpfr / without it", "7d slow first simulated/" + fpfr, "7d without simulated/" + fpfr, 0.52, 0},
			}},
		{"stable, relays", 0.1, "4.2: 900 Mbit/s in one direction, 750 in both", "the CPU was the limit there", []PaperRow{
			{"sends and receives", "relay / receiver", "chain of 3/" + chain, "chain of 2/" + chain, 750.0 / 900, 0.75},
		}},
		{"twister, table 7", 0.1, "table 7: 1 GB takes 8.09 s to 1 node, 8.22 s to 25 and 8.30 s to 150; naive 202 s to 25, and 19/25 of that ratio is compared",
			"relays of plans lose 4 to 9 %; each of 150 relays adds a piece of 25 MB; all pieces of a short content are a larger part of a chain", []PaperRow{
				{"{50MB,100MB,200MB}", "19 receivers / 1", "* to 19/" + chain, "* to 1/" + chain, 8.09 / 8.22, 0},
				{"19 receivers, simulated", "chain / naive", "naive/" + chain, "mob:plan=flat", 202.0 / 8.22 * 19 / 25, 3},
				{"150 receivers, simulated", "share of the link", "150 receivers/" + chain, "bound", 8.0 / 8.3, 0},
			}},
		{"twister, figure 6", 0.35, "6.2: 5 times faster than without topology", "an uplink has the rate of one of five interfaces here, of ten of 42 there", []PaperRow{
			{"by racks / shuffled", "chain", "shuffled chain/" + chain, "mob:shuffled:plan=chain", 5, 3},
		}},
		{"twister, figure 9", 0.35, "6.3: 10 % of the time, and 125 GB instead of 1 TB, where eight values merge to one; here four do", "", []PaperRow{
			{"time", "with reduction / without", "reduction/mob", "shuffle/mob", 5, 3},
			{"bytes", "with reduction / without", "reduction/bytes", "shuffle/bytes", 4, 3},
		}},
	}
}

// messages is in the names of the experiments with sizes of messages.
const messages = "fourth experiment, "
