package plan

import (
	"errors"
	"fmt"
	"math"

	"github.com/mobgrid/mob/proto"
)

// Topology is a network with the rates of its links. Rates are in bytes per second.
//
// A link carries its rates in both directions concurrently, and switches forward everything. A
// host forwards only content that it received as a member of a broadcast.
//
// Clusters have a switch each, by the name of the cluster, and so have the groups that their
// paths name: "geneva/rack3" and "geneva". What no link names hangs from the switch of the group
// that it is in, without a limit: a host, or the switch of a rack.
type Topology struct {
	Hosts    []Host
	Switches []string
	Links    []Link
}

// Host is a machine. Its name differs from all other names of hosts, switches and clusters.
type Host struct {
	Name    string
	Cluster string // a path, or "" for none
	// Send and Receive are the rates of its interface, so what it relays takes of both. 0 means no limit.
	Send, Receive float64
}

// Link joins two hosts or switches. AB is its rate from A to B, and BA back; 0 means no limit.
type Link struct {
	A, B   string
	AB, BA float64
}

func (l *Link) name() string { return l.A + "-" + l.B }

// The limits of what can be planned for in reasonable time and memory.
const (
	maxHosts  = 10_000
	maxNodes  = 20_000
	maxLinks  = 200_000
	maxRoutes = 1 << 25 // entries in tables of routes
)

// check reports what is wrong with the topology apart from how it is linked.
func (t *Topology) check() error {
	switch {
	case len(t.Hosts) == 0:
		return errors.New("the topology has no hosts")
	case len(t.Hosts) > maxHosts:
		return fmt.Errorf("the topology has %d hosts: at most %d can be planned for", len(t.Hosts), maxHosts)
	case len(t.Hosts)+len(t.Switches) > maxNodes:
		return fmt.Errorf("the topology has %d hosts and switches: at most %d can be planned for",
			len(t.Hosts)+len(t.Switches), maxNodes)
	case len(t.Links) > maxLinks:
		return fmt.Errorf("the topology has %d links: at most %d can be planned for", len(t.Links), maxLinks)
	}
	for _, h := range t.Hosts {
		if err := proto.CheckHost(h.Name); err != nil {
			return err
		}
		if h.Cluster != "" {
			if err := proto.CheckCluster(h.Cluster); err != nil {
				return fmt.Errorf("host %s: %w", h.Name, err)
			}
		}
		if err := errors.Join(checkRate(h.Send), checkRate(h.Receive)); err != nil {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	seen := make(map[[2]string]bool, len(t.Links))
	for _, l := range t.Links {
		if l.A == l.B {
			return fmt.Errorf("link %q leads to where it begins", l.name())
		}
		if seen[[2]string{l.A, l.B}] || seen[[2]string{l.B, l.A}] {
			return fmt.Errorf("duplicate link %q: give one with the sum of their rates", l.name())
		}
		seen[[2]string{l.A, l.B}] = true
		if err := errors.Join(checkRate(l.AB), checkRate(l.BA)); err != nil {
			return fmt.Errorf("link %q: %w", l.name(), err)
		}
	}
	return nil
}

func checkRate(r float64) error {
	if !(r >= 0) || math.IsInf(r, 1) {
		return fmt.Errorf("rate %v is not more than 0", r)
	}
	return nil
}

// unlimited returns +Inf for a rate of 0.
func unlimited(r float64) float64 {
	if r == 0 {
		return math.Inf(1)
	}
	return r
}
