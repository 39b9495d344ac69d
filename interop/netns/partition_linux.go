package netns

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Block drops all packets from one cluster to another, until [Grid.Unblock]. Those of the other
// direction pass. No node is told: packets are lost without an ICMP message.
func (g *Grid) Block(from, to string) error {
	return g.replaceRoute(from, to, func(r *netlink.Route, _ *gateway) { r.Type = unix.RTN_BLACKHOLE })
}

// Unblock ends a [Grid.Block].
func (g *Grid) Unblock(from, to string) error {
	return g.replaceRoute(from, to, func(r *netlink.Route, gw *gateway) {
		r.LinkIndex = gw.wan[to]
		r.Gw = wanIP(g.byName[to].index, gw.index).AsSlice()
	})
}

// replaceRoute replaces the route from a cluster's gateway to another cluster.
func (g *Grid) replaceRoute(from, to string, set func(r *netlink.Route, gw *gateway)) error {
	gw := g.byName[from]
	if gw == nil || gw.wan[to] == 0 {
		return fmt.Errorf("netns: no link between %q and %q", from, to)
	}
	route := &netlink.Route{Dst: clusterNet(g.byName[to].index)}
	set(route, gw)
	err := gw.ns.do(func() error { return netlink.RouteReplace(route) })
	if err != nil {
		return fmt.Errorf("netns: route from %s to %s: %w", from, to, err)
	}
	g.log.Debug("route replaced", "from", from, "to", to, "route", route)
	return nil
}

// Unplug pulls the node's cable to the bridge, until [Node.Plug].
func (n *Node) Unplug() error { return n.setPort(netlink.LinkSetDown) }

// Plug ends a [Node.Unplug].
func (n *Node) Plug() error { return n.setPort(netlink.LinkSetUp) }

// setPort changes the node's port on the bridge.
func (n *Node) setPort(set func(netlink.Link) error) error {
	err := n.grid.byName[n.Cluster].ns.do(func() error {
		port, err := netlink.LinkByName(n.portName())
		if err != nil {
			return err
		}
		return set(port)
	})
	if err != nil {
		return fmt.Errorf("netns: port of node %d of %s: %w", n.Index, n.Cluster, err)
	}
	return nil
}
