package netns

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Config describes a grid.
type Config struct {
	// Clusters of the grid, 1 to 16.
	Clusters []Cluster
	// Links has a rate for every two clusters, and only these: see [Links.Among].
	Links Links
	// Buffer is the length of each shaped queue, as time at the first rate of its link. The queue
	// keeps its length in bytes when the rate changes, as a router's does, and holds at least 128
	// KiB. Zero: 250 ms. Longer queues mean less loss and more delay.
	Buffer time.Duration
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
	// machine's default. If the kernel does not have it, the default stays and a warning is logged. Empty:
	// cubic.
	Congestion string
	// CongestionOnly has programs use Congestion for all sockets, as on a kernel that allows nothing
	// else: to choose another fails.
	CongestionOnly bool
	// Log receives events and warnings. Nil: no log.
	Log *slog.Logger
}

// withDefaults sets fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	if c.Buffer == 0 {
		c.Buffer = 250 * time.Millisecond
	}
	if c.Congestion == "" {
		c.Congestion = "cubic"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// validate returns an error for a grid that cannot be made.
func (c Config) validate() error {
	if len(c.Clusters) == 0 || len(c.Clusters) > maxClusters {
		return fmt.Errorf("netns: %d clusters: use 1 to %d", len(c.Clusters), maxClusters)
	}
	if c.Buffer < 0 {
		return errors.New("netns: Buffer is negative")
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
	return c.validateLinks(seen)
}

func (c Config) validateLinks(clusters map[string]bool) error {
	for p, r := range c.Links.rates {
		if !clusters[p.a] || !clusters[p.b] || p.a == p.b {
			return fmt.Errorf("netns: link %s-%s does not join two clusters of the grid", p.a, p.b)
		}
		if err := checkRate(r); err != nil {
			return fmt.Errorf("netns: link %s-%s: %w", p.a, p.b, err)
		}
	}
	if want := len(clusters) * (len(clusters) - 1) / 2; len(c.Links.rates) != want {
		return fmt.Errorf("netns: %d links for %d clusters: every two need a rate, %d in all",
			len(c.Links.rates), len(clusters), want)
	}
	return nil
}
