package netns

import (
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// congestion is a way to set the TCP congestion control of a node. In a namespace other than the
// first the kernel accepts only some algorithms as the default, but any as a property of a route.
type congestion struct {
	sysctl string // set for the namespace, when not empty
	route  string // set on each route, when not empty
	locked bool   // on routes: a program cannot choose another for a socket
}

// findCongestion finds out, in a namespace of the grid, how an algorithm can be set, as the only one if
// it is to be locked. The zero value means that the kernel does not have it.
func findCongestion(ns namespace, algorithm string, locked bool) (c congestion) {
	// An error leaves c zero, which the caller reports.
	_ = ns.do(func() error {
		c.sysctl = algorithm
		if !locked && c.applyDefault() == nil {
			return nil
		}
		c.sysctl = ""
		available, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
		if slices.Contains(strings.Fields(string(available)), algorithm) {
			c.route, c.locked = algorithm, locked
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

// metrics are the metrics of a route. The package netlink cannot lock this one.
func (c congestion) metrics() *nl.RtAttr {
	m := nl.NewRtAttr(unix.RTA_METRICS, nil)
	m.AddRtAttr(unix.RTAX_CC_ALGO, nl.ZeroTerminated(c.route))
	if c.locked {
		m.AddRtAttr(unix.RTAX_LOCK, nl.Uint32Attr(1<<unix.RTAX_CC_ALGO))
	}
	return m
}
