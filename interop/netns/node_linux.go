package netns

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/vishvananda/netlink"
)

// Node is a machine of a cluster: a namespace with interfaces lo, eth0 and, if the cluster has a
// WANNIC, eth1. Its methods may be called from any goroutine.
type Node struct {
	// Cluster is the name of its cluster, Index its index in the cluster, from 0.
	Cluster string
	Index   int
	// Path is its cluster's name or, in a rack, the name of the rack, such as A/r1.
	Path string
	// IP is its only address, reachable from all nodes of the grid and from nowhere else.
	IP netip.Addr

	grid *Grid
	ns   namespace
}

// Do runs fn in the node's namespace and returns its error. A socket that fn opens stays in the
// node, and may be used anywhere. fn runs on the only thread of the grid that enters namespaces: it
// blocks all other calls on the grid, it must not call the grid, its nodes or processes, and
// goroutines that it starts are outside of the namespace.
func (n *Node) Do(fn func() error) error {
	return n.ns.do(fn)
}

// addNode adds a node to a cluster. Its only neighbor is the gateway as yet.
func (g *Grid) addNode(gw *gateway) error {
	ns, err := newNamespace(g.thread)
	if err != nil {
		return err
	}
	n := &Node{
		Cluster: gw.Name,
		Index:   len(gw.nodes),
		Path:    gw.Path(len(gw.nodes)),
		IP:      nodeIP(gw.index, len(gw.nodes)),
		grid:    g,
		ns:      ns,
	}
	gw.nodes = append(gw.nodes, n)
	near := linkEnd{ns: gw.ns, name: n.portName()}
	far := linkEnd{ns: ns, name: "eth0", mac: mac(n.IP)}
	if err := joinByVeth(near, far); err != nil {
		return err
	}
	if err := gw.ns.do(func() error { return gw.plugNode(n, g.buffer) }); err != nil {
		return err
	}
	if err := ns.do(func() error { return n.configure(gw, g.congestion, g.buffer) }); err != nil {
		return err
	}
	if gw.WANNIC == 0 {
		return nil
	}
	return g.addWANNIC(gw, n)
}

// portName is the name of the node's port on the bridge.
func (n *Node) portName() string { return "node" + strconv.Itoa(n.Index) }

// configure configures the node's namespace.
func (n *Node) configure(gw *gateway, c congestion, buffer queueLength) error {
	if err := c.applyDefault(); err != nil {
		return err
	}
	eth, err := netlink.LinkByName("eth0")
	if err != nil {
		return fmt.Errorf("find eth0: %w", err)
	}
	if err := bringUp(eth, n.IP, clusterBits); err != nil {
		return err
	}
	if err := addRoute(eth, clusterNet(gw.index), netip.Addr{}, c); err != nil {
		return err
	}
	if gw.WANNIC == 0 { // otherwise addWANNIC adds the route
		if err := addRoute(eth, everywhere(), gatewayIP(gw.index), c); err != nil {
			return err
		}
	}
	if nic := gw.NodeNIC(n.Index); nic > 0 {
		if err := shape(eth.Attrs().Index, nic, buffer); err != nil {
			return err
		}
	}
	return addNeighbor(eth, gatewayIP(gw.index))
}

// addNeighbors adds the hardware addresses of the other nodes of the cluster.
func (n *Node) addNeighbors(others []*Node) error {
	return n.ns.do(func() error {
		eth, err := netlink.LinkByName("eth0")
		if err != nil {
			return fmt.Errorf("find eth0: %w", err)
		}
		for _, o := range others {
			if o == n {
				continue
			}
			if err := addNeighbor(eth, o.IP); err != nil {
				return err
			}
		}
		return nil
	})
}
