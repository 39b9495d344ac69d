package netns

import (
	"fmt"
	"net/netip"
	"strconv"
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
func (n *Node) Do(fn func() error) error { return n.grid.in(n.ns, fn) }

// in runs fn in a namespace, on the grid's thread.
func (g *Grid) in(ns namespace, fn func() error) error {
	return g.thread.do(func() error {
		if err := ns.enter(); err != nil {
			return fmt.Errorf("netns: enter a network namespace: %w", err)
		}
		return fn()
	})
}

// portName is the name of the node's port on the bridge.
func (n *Node) portName() string { return "node" + strconv.Itoa(n.Index) }

// addNode adds a node to a cluster.
func (b *builder) addNode(gw *gateway) {
	i := len(gw.nodes)
	b.part = fmt.Sprintf("node %d of %s", i, gw.Name)
	n := &Node{
		Cluster: gw.Name, Index: i, Path: gw.Path(i), IP: nodeIP(gw.index, i), grid: b.Grid, ns: b.newNamespace(),
	}
	gw.nodes = append(gw.nodes, n)
	bridge, router := bridgeName, gatewayIP(gw.index)
	if r := gw.RackOf(i); r >= 0 {
		bridge = rackBridge(r)
	}
	b.join(linkEnd{ns: gw.ns, name: n.portName()}, linkEnd{n.ns, "eth0", mac(n.IP)})
	b.plug(n.portName(), bridge, gw.NodeNIC(i))
	b.neighbors(bridgeName, n.IP)

	b.enter(n.ns)
	if b.congestion.sysctl != "" {
		b.sysctl(congestionSysctl, b.congestion.sysctl)
	}
	b.address("eth0", n.IP, clusterBits)
	b.route("eth0", clusterNet(gw.index), netip.Addr{})
	b.neighbors("eth0", router)
	b.shape("eth0", gw.NodeNIC(i))
	if gw.WANNIC == 0 {
		b.route("eth0", everywhere(), router)
		return
	}
	// A second link between the node and its gateway, past the bridge. Each end routes the other's address
	// through it, so that a reverse path filter finds packets where it expects them. The node keeps its only
	// address, on eth0, and the link is a network of two, so the hardware addresses can be used again.
	up := "up" + strconv.Itoa(i)
	b.join(linkEnd{gw.ns, up, mac(router)}, linkEnd{n.ns, "eth1", mac(n.IP)})
	b.point(up, n.IP, gw.WANNIC)
	b.enter(n.ns)
	b.point("eth1", router, gw.WANNIC)
	b.route("eth1", everywhere(), router)
}

// addNeighbors adds to each node of a cluster the hardware addresses of the other nodes.
func (b *builder) addNeighbors(gw *gateway) {
	for _, n := range gw.nodes {
		var others []netip.Addr
		for _, o := range gw.nodes {
			if o != n {
				others = append(others, o.IP)
			}
		}
		b.enter(n.ns)
		b.neighbors("eth0", others...)
	}
}
