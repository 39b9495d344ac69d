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
	if err := ns.do(gw.addBridge); err != nil {
		return gw, err
	}
	return gw, nil
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

// plug connects the near end of a node's veth pair to the bridge, with the rate of the NIC.
func (gw *gateway) plug(n *Node, buffer queueLength) error {
	bridge, err := netlink.LinkByName(bridgeName)
	if err != nil {
		return fmt.Errorf("find the bridge: %w", err)
	}
	port, err := netlink.LinkByName(n.portName())
	if err != nil {
		return fmt.Errorf("find a port: %w", err)
	}
	if err := netlink.LinkSetMaster(port, bridge); err != nil {
		return fmt.Errorf("plug %s into the bridge: %w", n.portName(), err)
	}
	if err := netlink.LinkSetUp(port); err != nil {
		return fmt.Errorf("set %s up: %w", n.portName(), err)
	}
	if nic := gw.NodeNIC(n.Index); nic > 0 {
		if err := shape(port.Attrs().Index, nic, buffer); err != nil {
			return err
		}
	}
	return addNeighbour(bridge, n.IP)
}
