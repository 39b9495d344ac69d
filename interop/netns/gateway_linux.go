package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"

	"github.com/vishvananda/netlink"
)

const bridgeName = "br0"

// gateway is the switch and the router of a cluster, in one namespace.
type gateway struct {
	Cluster
	index int // of the cluster in the grid: addresses depend on it
	ns    namespace
	nodes []*Node
	wan   map[string]int // index of the interface to a cluster
}

// newGateway makes a namespace that forwards, with an empty bridge.
func newGateway(t *thread, c Cluster, index int) (*gateway, error) {
	ns, err := newNamespace(t)
	if err != nil {
		return nil, err
	}
	gw := &gateway{Cluster: c, index: index, ns: ns, wan: make(map[string]int)}
	return gw, ns.do(gw.addBridge)
}

func (gw *gateway) addBridge() error {
	if err := writeSysctl("net/ipv4/ip_forward", "1"); err != nil {
		return err
	}
	ip := gatewayIP(gw.index)
	attrs := netlink.NewLinkAttrs()
	// The default hardware address of a bridge changes with its ports.
	attrs.Name, attrs.MTU, attrs.HardwareAddr = bridgeName, ethernetMTU, mac(ip)
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("add a bridge: %w", err)
	}
	if err := bringUp(bridge, ip, clusterBits); err != nil {
		return err
	}
	if err := withoutFilter(); err != nil {
		return err
	}
	return addRoute(bridge, clusterNet(gw.index), netip.Addr{}, congestion{})
}

// withoutFilter keeps frames of the namespace's bridge out of the packet filter. Where the kernel
// has loaded br_netfilter, as on hosts of containers, each frame would pass it, which costs CPU.
func withoutFilter() error {
	for _, protocol := range []string{"arptables", "iptables", "ip6tables"} {
		err := writeSysctl("net/bridge/bridge-nf-call-"+protocol, "0")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// plugNode connects the near end of a node's veth pair to the bridge of its rack, or to that of the
// gateway, with the rate of the NIC.
func (gw *gateway) plugNode(n *Node, buffer queueLength) error {
	bridge := bridgeName
	if r := gw.RackOf(n.Index); r >= 0 {
		bridge = rackBridge(r)
	}
	if err := plug(n.portName(), bridge, gw.NodeNIC(n.Index), buffer); err != nil {
		return err
	}
	router, err := netlink.LinkByName(bridgeName)
	if err != nil {
		return fmt.Errorf("find the bridge: %w", err)
	}
	return addNeighbor(router, n.IP)
}

// plug makes an interface a port of a bridge, in the calling thread's namespace, and limits what
// leaves the bridge through it. A rate of zero means no limit.
func plug(port, bridge string, r Rate, buffer queueLength) error {
	b, err := netlink.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("find a bridge: %w", err)
	}
	p, err := netlink.LinkByName(port)
	if err != nil {
		return fmt.Errorf("find a port: %w", err)
	}
	if err := netlink.LinkSetMaster(p, b); err != nil {
		return fmt.Errorf("plug %s into %s: %w", port, bridge, err)
	}
	if err := netlink.LinkSetUp(p); err != nil {
		return fmt.Errorf("set %s up: %w", port, err)
	}
	if r == 0 {
		return nil
	}
	return shape(p.Attrs().Index, r, buffer)
}
