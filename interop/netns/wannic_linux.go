package netns

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/vishvananda/netlink"
)

// addWANNIC adds a second link between a node and its gateway, past the bridge, and makes it the
// route to other clusters. Each end routes the other's address through this link, so that a reverse
// path filter finds packets where it expects them. The node keeps its only address, on eth0: the
// kernel uses it for packets that leave through an interface without one. The link is a network of
// two, so the hardware addresses of the bridge can be used again.
func (g *Grid) addWANNIC(gw *gateway, n *Node) error {
	near := linkEnd{ns: gw.ns, name: "up" + strconv.Itoa(n.Index), mac: mac(gatewayIP(gw.index))}
	far := linkEnd{ns: n.ns, name: "eth1", mac: mac(n.IP)}
	if err := joinByVeth(near, far); err != nil {
		return err
	}
	err := gw.ns.do(func() error {
		_, err := g.openWANNIC(near.name, n.IP, gw.WANNIC)
		return err
	})
	if err != nil {
		return err
	}
	return n.ns.do(func() error {
		eth, err := g.openWANNIC(far.name, gatewayIP(gw.index), gw.WANNIC)
		if err != nil {
			return err
		}
		return addRoute(eth, everywhere(), gatewayIP(gw.index), g.congestion)
	})
}

// openWANNIC configures one end of such a link to peer, in the calling thread's namespace.
func (g *Grid) openWANNIC(name string, peer netip.Addr, r Rate) (netlink.Link, error) {
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
	if err := addNeighbor(link, peer); err != nil {
		return nil, err
	}
	return link, shape(link.Attrs().Index, r, g.buffer)
}
