package netns

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// addWANs links every two gateways.
func (g *Grid) addWANs(c Config) error {
	if c.RTT > 0 || c.Loss > 0 {
		var err error
		g.relay, err = newRelay(c.RTT/2, c.Loss, g.log)
		if err != nil {
			return fmt.Errorf("netns: relay: %w", err)
		}
	}
	for i, a := range g.gateways {
		for _, b := range g.gateways[i+1:] {
			if err := g.addWAN(a, b, c.Links.Rate(a.Name, b.Name)); err != nil {
				return fmt.Errorf("netns: link %s-%s: %w", a.Name, b.Name, err)
			}
		}
	}
	if g.relay != nil {
		g.relay.start()
	}
	return nil
}

// addWAN links the gateways of two clusters, with each direction shaped where it leaves. It is a
// veth pair or, with a delay, a line of the relay. For the rest of the package it is an interface
// in the wan table of each gateway.
func (g *Grid) addWAN(a, b *gateway, r Rate) error {
	near := linkEnd{ns: a.ns, name: wanName(b), mac: mac(wanIP(a.index, b.index))}
	far := linkEnd{ns: b.ns, name: wanName(a), mac: mac(wanIP(b.index, a.index))}
	join := joinByVeth
	if g.relay != nil {
		join = g.relay.join
	}
	if err := join(near, far); err != nil {
		return err
	}
	for _, end := range [][2]*gateway{{a, b}, {b, a}} {
		from, to := end[0], end[1]
		if err := from.ns.do(func() error { return from.configureWAN(to, r, g.buffer) }); err != nil {
			return err
		}
	}
	return nil
}

// wanName is the name of the interfaces to a gateway. Names of clusters need not be valid for
// interfaces.
func wanName(to *gateway) string { return fmt.Sprintf("wan%d", to.index) }

// configureWAN configures this gateway's end of the link to another.
func (gw *gateway) configureWAN(to *gateway, r Rate, buffer queueLength) error {
	wan, err := netlink.LinkByName(wanName(to))
	if err != nil {
		return fmt.Errorf("find %s: %w", wanName(to), err)
	}
	if err := bringUp(wan, wanIP(gw.index, to.index), wanBits); err != nil {
		return err
	}
	peer := wanIP(to.index, gw.index)
	if err := addRoute(wan, ipNet(netip.PrefixFrom(peer, 32)), netip.Addr{}, congestion{}); err != nil {
		return err
	}
	if err := addRoute(wan, clusterNet(to.index), peer, congestion{}); err != nil {
		return err
	}
	if err := addNeighbor(wan, peer); err != nil {
		return err
	}
	gw.wan[to.Name] = wan.Attrs().Index
	return shape(wan.Attrs().Index, r, buffer)
}
