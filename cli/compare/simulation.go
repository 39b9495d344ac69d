package compare

import (
	"fmt"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/mob/sim"
	"github.com/mobgrid/mob/proto"
)

// simConfig is a case for the simulator.
func simConfig(c *bench.Case) sim.Config {
	cfg := sim.Config{
		Length: c.Size, PieceLength: int(proto.DefaultPieceLength(c.Size)), RTT: c.RTT, Seed: c.Seed,
		NIC: float64(c.Clusters[0].NIC), SlowNIC: map[int]float64{}, Limit: c.Limit(), Links: simLinks(c),
	}
	numbers := map[bench.Receiver]int{}
	for i, r := range c.Receivers() {
		numbers[r] = i + 1
	}
	for _, cl := range c.Clusters {
		cfg.Clusters = append(cfg.Clusters, sim.Cluster{Name: cl.Name, Nodes: cl.Nodes})
		for n, r := range cl.SlowNIC {
			cfg.SlowNIC[numbers[bench.Receiver{Cluster: cl.Name, Index: n}]] = float64(r)
		}
	}
	for _, v := range c.Victims() {
		cfg.Faults.Kills = append(cfg.Faults.Kills, sim.Kill{Node: numbers[v.Receiver], At: v.At})
	}
	return cfg
}

// simLinks writes the scenario out, until the run ends at the latest.
func simLinks(c *bench.Case) sim.Links {
	all := sim.Links{}
	limit := c.Limit()
	for now := time.Duration(0); now < limit; {
		links, until := c.Scenario.Rates(now)
		for _, a := range c.Names() {
			for _, b := range c.Names() {
				if a != b {
					l := sim.Link{From: a, To: b}
					all[l] = append(all[l], sim.Step{From: now, BytesPerSec: float64(links.Rate(a, b))})
				}
			}
		}
		now = until
	}
	return all
}

// simResult is a simulation as a run of a comparison.
func simResult(c *bench.Case, r *sim.Report) *bench.Run {
	run := &bench.Run{Finished: map[string]float64{}, Control: r.Control, ControlPerPayload: r.ControlPerPayload}
	killed := map[bench.Receiver]time.Duration{}
	for _, v := range c.Victims() {
		killed[v.Receiver] = v.At
	}
	var counted []time.Duration
	missing := 0
	for i, n := range c.Receivers() {
		at := r.Finished[i+1]
		if at > 0 {
			run.Finished[n.String()] = at.Seconds()
		}
		_, dead := killed[n]
		switch {
		case dead:
			run.Killed = append(run.Killed, n.String())
		case c.Slow(n):
			run.Slow = append(run.Slow, n.String())
		case at > 0:
			counted = append(counted, at)
		default:
			missing++
		}
	}
	for _, k := range r.Copies {
		if len(c.Clusters) > 1 {
			run.Copies = append(run.Copies, bench.ClusterCopies{Cluster: k.Cluster, Copies: k.Copies})
		}
	}
	for _, l := range r.Links {
		if l.To != c.Clusters[0].Name {
			run.Links = append(run.Links, bench.LinkReport{From: l.From, To: l.To, Bytes: uint64(l.Bytes), Share: 1 - l.Idle})
		}
	}
	run.Finish(counted, c.Size)
	if missing > 0 {
		run.Error = fmt.Sprintf("%d of %d receivers are not whole", missing, missing+len(counted))
	}
	return run
}
