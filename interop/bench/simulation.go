package bench

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/coded"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/mob/sim"
	payload "github.com/mobgrid/mob/peer/payload/coded"
	"github.com/mobgrid/mob/proto"
)

// Simulation is mob on a case in the simulator.
type Simulation struct {
	of  *Case
	cfg sim.Config
}

// NewSimulation prepares a simulation of mob, with options site, coded and plan.
func NewSimulation(c *Case, m Mob) (*Simulation, error) {
	s := &Simulation{of: c, cfg: sim.Config{
		Length: c.Size, PieceLength: int(proto.DefaultPieceLength(c.Size)), RTT: c.RTT, Seed: c.Seed,
		NIC: float64(c.Clusters[0].NIC), SlowNIC: map[int]float64{}, Limit: c.Limit(), Links: simLinks(c),
		Uplink: float64(c.Clusters[0].Uplink),
	}}
	number := map[Receiver]int{} // in the simulator; 0 is the source
	for i, r := range c.Receivers() {
		number[r] = i + 1
	}
	for _, cl := range c.Clusters {
		if len(cl.Racks) == 0 {
			s.cfg.Clusters = append(s.cfg.Clusters, sim.Cluster{Name: cl.Name, Nodes: cl.Nodes})
		}
		for i, nodes := range cl.Racks {
			s.cfg.Clusters = append(s.cfg.Clusters, sim.Cluster{Name: cl.RackName(i), Nodes: nodes})
		}
		for n, r := range cl.SlowNIC {
			s.cfg.SlowNIC[number[Receiver{cl.Name, n}]] = float64(r)
		}
	}
	for _, v := range c.Victims() {
		s.cfg.Faults.Kills = append(s.cfg.Faults.Kills, sim.Kill{Node: number[v.Receiver], At: v.At})
	}
	for _, option := range m.Options {
		if err := s.apply(option); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name(), err)
		}
	}
	return s, nil
}

func (s *Simulation) apply(option string) error {
	switch name, value, _ := strings.Cut(option, "="); name {
	case FlatOption:
		s.cfg.Flat = true
		return nil
	case "coded":
		return s.code(cmp.Or(value, simCodedK))
	case "plan":
		return s.plan(value)
	default:
		return fmt.Errorf("the simulator has no option %q: use site, coded or plan", name)
	}
}

// simLinks lists the changes of all links until the limit of a run.
func simLinks(c *Case) sim.Links {
	all := sim.Links{}
	limit := c.Limit()
	for now := time.Duration(0); now < limit; {
		links, until := c.Scenario(now)
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

// simCodedK is the default number of source blocks in a generation of a simulated coded
// transfer. A node chooses by the speed of its machine; a simulation must not depend on
// the machine.
const simCodedK = "16"

// code makes the transfer coded, with generations of k blocks. It cuts the content as a
// node does.
func (s *Simulation) code(text string) error {
	k, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	m := &proto.Manifest{PieceLength: max(uint32(s.cfg.PieceLength), proto.MinCodedBlock), Entries: []proto.Entry{{Size: s.cfg.Length}}}
	c, err := proto.NewCoding(m, k)
	if err != nil {
		return err
	}
	s.cfg.PieceLength = c.Block
	s.cfg.Coding = coded.Coding{Blocks: c.K, Names: c.Names(), Live: payload.Live(c)}
	return nil
}

// plan has nodes follow a plan for the links as they nominally are.
func (s *Simulation) plan(algorithm string) error {
	n, err := plan.NewNetwork(s.of.Topology(1))
	if err != nil {
		return err
	}
	source := Receiver{s.of.Clusters[0].Name, 0}
	s.cfg.Hosts = []string{source.String()}
	for _, r := range s.of.Receivers() {
		s.cfg.Hosts = append(s.cfg.Hosts, r.String())
	}
	s.cfg.Plan, err = n.Plan(algorithm, source.String(), nil, s.of.Seed)
	return err
}

// Run simulates one run: nodes draw from the seed, while links and kills are as in the case. The
// simulator cannot be stopped.
func (s *Simulation) Run(seed uint64) (*Run, error) {
	cfg := s.cfg
	cfg.Seed = seed
	r, err := sim.Run(cfg)
	if err != nil {
		return nil, err
	}
	return simResult(s.of, r), nil
}

// simResult converts the report of a simulation.
func simResult(c *Case, r *sim.Report) *Run {
	run := &Run{Finished: map[string]float64{}, Control: r.Control, ControlPerPayload: r.ControlPerPayload}
	killed, complete := map[Receiver]bool{}, map[Receiver]time.Duration{}
	for _, v := range c.Victims() {
		killed[v.Receiver] = true
	}
	for i, n := range c.Receivers() {
		if at := r.Finished[i+1]; at > 0 {
			complete[n] = at
		}
	}
	for _, k := range r.Copies {
		if !c.single() {
			run.Copies = append(run.Copies, ClusterCopies{Cluster: k.Cluster, Copies: k.Copies})
		}
	}
	for _, k := range r.RackCopies {
		run.RackCopies = append(run.RackCopies, ClusterCopies{Cluster: k.Cluster, Copies: k.Copies})
	}
	for _, l := range r.Links {
		if l.To != c.Clusters[0].Name {
			run.Links = append(run.Links, simLink(l))
		}
	}
	for _, l := range r.Uplinks {
		run.Links = append(run.Links, simLink(l))
	}
	if err := run.setTimes(c, complete, killed); err != nil {
		run.Error = err.Error()
	}
	return run
}

func simLink(l sim.LinkReport) LinkReport {
	return LinkReport{From: l.From, To: l.To, Bytes: uint64(l.Bytes), Share: 1 - l.Idle}
}
