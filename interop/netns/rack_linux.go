package netns

import (
	"fmt"
	"strconv"

	"github.com/vishvananda/netlink"
)

// The names of a rack's parts, all in the namespace of the gateway: its bridge, and the two ends of
// its uplink, on the gateway's bridge and on its own.
func rackBridge(rack int) string { return "rack" + strconv.Itoa(rack) }
func rackPort(rack int) string   { return "torack" + strconv.Itoa(rack) }
func rackUplink(rack int) string { return "uplink" + strconv.Itoa(rack) }

// addRacks makes the racks of a cluster, without nodes as yet.
func (g *Grid) addRacks(gw *gateway) error {
	for i := range gw.Racks {
		near := linkEnd{ns: gw.ns, name: rackPort(i)}
		far := linkEnd{ns: gw.ns, name: rackUplink(i)}
		if err := joinByVeth(near, far); err != nil {
			return err
		}
		if err := gw.ns.do(func() error { return gw.addRack(i, g.buffer) }); err != nil {
			return fmt.Errorf("rack %s: %w", gw.RackName(i), err)
		}
	}
	return nil
}

// addRack makes the bridge of a rack, and plugs in both ends of its uplink.
func (gw *gateway) addRack(rack int, buffer queueLength) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = rackBridge(rack), ethernetMTU
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("add a bridge: %w", err)
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("set %s up: %w", attrs.Name, err)
	}
	if err := plug(rackPort(rack), bridgeName, gw.Uplink, buffer); err != nil {
		return err
	}
	return plug(rackUplink(rack), rackBridge(rack), gw.Uplink, buffer)
}
