package netns

import (
	"errors"
	"fmt"
	"time"
)

// Config describes a grid.
type Config struct {
	// Clusters of the grid, 1 to 16.
	Clusters []Cluster
	// Links has a rate for every two clusters, and only these: see [Links.Among].
	Links Links
	// RTT is the round-trip time between clusters without queueing: what has left the queue of a
	// WAN link arrives half of it later, or up to a millisecond after that. This program then
	// carries every frame, so it must not be stopped or starved, and the machine needs
	// /dev/net/tun. Zero: none.
	RTT time.Duration
	// Loss is the share of packets that every WAN link loses at random in each direction, behind its
	// queue. Links then have no segmentation offload, so what is lost is a packet as on a wire. Like
	// RTT it needs /dev/net/tun, and delays packets by up to a millisecond. Zero: none.
	Loss float64
	// Congestion is the TCP congestion control of all nodes, so that results do not depend on the
	// machine's default. Empty: cubic.
	Congestion string
	// CongestionOnly has programs use Congestion for all sockets, as on a kernel that allows nothing
	// else: to choose another fails.
	CongestionOnly bool
}

// validate returns an error for a grid that cannot be made.
func (c Config) validate() error {
	if len(c.Clusters) == 0 || len(c.Clusters) > maxClusters {
		return fmt.Errorf("netns: %d clusters: use 1 to %d", len(c.Clusters), maxClusters)
	}
	if c.RTT < 0 {
		return errors.New("netns: RTT is negative")
	}
	if !(c.Loss >= 0 && c.Loss < 1) {
		return fmt.Errorf("netns: Loss %v is not from 0 to less than 1", c.Loss)
	}
	seen := make(map[string]bool)
	for _, cl := range c.Clusters {
		if cl.Name == "" || seen[cl.Name] {
			return fmt.Errorf("netns: cluster name %q is empty or not unique", cl.Name)
		}
		if err := cl.validate(); err != nil {
			return fmt.Errorf("netns: cluster %s: %w", cl.Name, err)
		}
		seen[cl.Name] = true
	}
	for p, r := range c.Links.rates {
		if !seen[p.a] || !seen[p.b] || p.a == p.b {
			return fmt.Errorf("netns: link %s-%s does not join two clusters of the grid", p.a, p.b)
		}
		if err := checkRate(r); err != nil {
			return fmt.Errorf("netns: link %s-%s: %w", p.a, p.b, err)
		}
	}
	if want := len(seen) * (len(seen) - 1) / 2; len(c.Links.rates) != want {
		return fmt.Errorf("netns: %d links for %d clusters: every two need a rate, %d in total",
			len(c.Links.rates), len(seen), want)
	}
	return nil
}
