package netns

import (
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Block drops all packets from one cluster to another, until [Grid.Unblock]. Packets of the other
// direction pass. No node is notified: packets are lost without an ICMP message.
func (g *Grid) Block(from, to string) error {
	return g.atWAN(from, to, func(b *builder, _, to *gateway) {
		b.do("block", func() error {
			return netlink.RouteReplace(&netlink.Route{Dst: clusterNet(to.index), Type: unix.RTN_BLACKHOLE})
		})
	})
}

// Unblock ends a [Grid.Block].
func (g *Grid) Unblock(from, to string) error {
	return g.atWAN(from, to, func(b *builder, from, to *gateway) {
		b.with("route through", wanName(to), func(wan netlink.Link) error {
			via := wanIP(to.index, from.index).AsSlice()
			return netlink.RouteReplace(&netlink.Route{Dst: clusterNet(to.index), LinkIndex: wan.Attrs().Index, Gw: via})
		})
	})
}

// Unplug pulls the node's cable to the bridge, until [Node.Plug].
func (n *Node) Unplug() error { return n.setPort("unplug", netlink.LinkSetDown) }

// Plug ends a [Node.Unplug].
func (n *Node) Plug() error { return n.setPort("plug in", netlink.LinkSetUp) }

func (n *Node) setPort(what string, set func(netlink.Link) error) error {
	return n.grid.build("cluster "+n.Cluster, func(b *builder) {
		b.enter(n.grid.byName[n.Cluster].ns)
		b.with(what, n.portName(), set)
	})
}
