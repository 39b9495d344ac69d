package netns

import (
	"os"
	"slices"
	"strings"
)

// congestion is a way to set the TCP congestion control of a node. In a namespace other than the
// first the kernel accepts only some algorithms as the default, but any as a property of a route.
type congestion struct {
	sysctl string // set for the namespace, when not empty
	route  string // set on each route, when not empty
}

// findCongestion finds out, in a namespace of the grid, how an algorithm can be set. The zero value
// means that the kernel lacks it.
func findCongestion(ns namespace, algorithm string) (c congestion) {
	// An error leaves c zero, which the caller reports.
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

// applyDefault sets the default of the calling thread's namespace.
func (c congestion) applyDefault() error {
	if c.sysctl == "" {
		return nil
	}
	return writeSysctl("net/ipv4/tcp_congestion_control", c.sysctl)
}
