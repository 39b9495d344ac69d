package netns

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/vishvananda/netlink"
)

// addUplink joins a node to its gateway a second time, past the bridge, and makes that the way to other clusters. Each end routes
// the other's address through this link, so what comes in is where a reverse path filter expects it. The node keeps its one
// address, on eth0: the kernel takes it for what leaves through an interface without one. And since an uplink is a network of
// two, the hardware addresses that belong to their IP addresses on the bridge may be used again.
func (g *Grid) addUplink(gw *gateway, n *Node) error {
	near := linkEnd{ns: gw.ns, name: "up" + strconv.Itoa(n.Index), mac: mac(gatewayIP(gw.index))}
	far := linkEnd{ns: n.ns, name: "eth1", mac: mac(n.IP)}
	if err := joinByVeth(near, far); err != nil {
		return err
	}
	err := gw.ns.do(func() error {
		_, err := g.openUplink(near.name, n.IP, gw.WANNIC)
		return err
	})
	if err != nil {
		return err
	}
	return n.ns.do(func() error {
		eth, err := g.openUplink(far.name, gatewayIP(gw.index), gw.WANNIC)
		if err != nil {
			return err
		}
		return addRoute(eth, everywhere(), gatewayIP(gw.index), g.congestion)
	})
}

// openUplink sets up one end of an uplink to a peer, in the namespace of the calling thread.
func (g *Grid) openUplink(name string, peer netip.Addr, r Rate) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("set %s up: %w", name, err)
	}
	if err := addRoute(link, ipNet(netip.PrefixFrom(peer, 32)), netip.Addr{}, g.congestion); err != nil {
		return nil, err
	}
	if err := addNeighbour(link, peer); err != nil {
		return nil, err
	}
	return link, shape(link.Attrs().Index, r, g.buffer)
}
