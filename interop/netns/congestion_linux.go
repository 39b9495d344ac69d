package netns

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

const congestionSysctl = "net/ipv4/tcp_congestion_control"

// congestion is a way to set the TCP congestion control of a node. In a namespace other than the
// first the kernel accepts only some algorithms as the default, but any as a property of a route.
type congestion struct {
	sysctl string // set for the namespace, when not empty
	route  string // set on each route, when not empty
	locked bool   // on routes: a program cannot choose another for a socket
}

// findCongestion finds how to set an algorithm in a namespace of the grid; as the only one if locked.
func (b *builder) findCongestion(ns namespace, algorithm string, locked bool) (c congestion) {
	b.part = "grid"
	b.enter(ns)
	b.do("congestion control "+algorithm, func() error {
		if !locked && writeSysctl(congestionSysctl, algorithm) == nil {
			c.sysctl = algorithm
			return nil
		}
		c.route, c.locked = algorithm, locked
		available, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
		if err == nil && !slices.Contains(strings.Fields(string(available)), algorithm) {
			err = errors.New("this kernel does not have it")
		}
		return err
	})
	return c
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
