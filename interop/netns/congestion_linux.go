package netns

import (
	"os"
	"slices"
	"strings"
)

// congestion is how TCP congestion control is set in a node. The kernel takes only some algorithms as the default of a
// namespace that is not the first one, but any as a property of a route.
type congestion struct {
	sysctl string // set for the namespace, when not empty
	route  string // set on each route, when not empty
}

// findCongestion finds out, in a namespace of the grid, which way an algorithm can be set. Both empty: the kernel lacks it.
func findCongestion(ns namespace, algorithm string) (c congestion) {
	// An error leaves c empty, which the caller reports as not available.
	_ = ns.do(func() error {
		c.sysctl = algorithm
		if c.applyDefault() == nil {
			return nil
		}
		c.sysctl = ""
		available, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
		if slices.Contains(strings.Fields(string(available)), algorithm) {
			c.route = algorithm
		}
		return err
	})
	return c
}

// applyDefault sets the default of the namespace in which the calling thread is.
func (c congestion) applyDefault() error {
	if c.sysctl == "" {
		return nil
	}
	return writeSysctl("net/ipv4/tcp_congestion_control", c.sysctl)
}
