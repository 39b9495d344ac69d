package netns

import (
	"fmt"
	"net/netip"
	"strconv"
)

// gateway is the switch and the router of a cluster, in one namespace.
type gateway struct {
	Cluster
	index int // of the cluster in the grid: addresses depend on it
	ns    namespace
	nodes []*Node
}

// The names of interfaces in the namespace of a gateway: its bridge, the bridge of a rack, the two ends
// of the rack's uplink, on the gateway's bridge and on its own, and the link to another gateway.
const bridgeName = "br0"

func rackBridge(rack int) string { return "rack" + strconv.Itoa(rack) }
func rackPort(rack int) string   { return "torack" + strconv.Itoa(rack) }
func rackUplink(rack int) string { return "uplink" + strconv.Itoa(rack) }
func wanName(to *gateway) string { return "wan" + strconv.Itoa(to.index) }

// addGateway adds a gateway with the bridges of its racks.
func (b *builder) addGateway(c Cluster, index int) {
	b.part = "gateway of " + c.Name
	gw := &gateway{Cluster: c, index: index, ns: b.newNamespace()}
	b.gateways, b.byName[c.Name] = append(b.gateways, gw), gw
	b.sysctl("net/ipv4/ip_forward", "1")
	// Where the kernel has loaded br_netfilter, as on hosts of containers, each frame would pass the packet
	// filter, which costs CPU.
	for _, protocol := range []string{"arptables", "iptables", "ip6tables"} {
		b.sysctl("net/bridge/bridge-nf-call-"+protocol, "0")
	}
	b.bridge(bridgeName, mac(gatewayIP(index)))
	b.address(bridgeName, gatewayIP(index), clusterBits)
	b.route(bridgeName, clusterNet(index), netip.Addr{})
	for i := range gw.Racks {
		b.join(linkEnd{ns: gw.ns, name: rackPort(i)}, linkEnd{ns: gw.ns, name: rackUplink(i)})
		b.bridge(rackBridge(i), nil)
		b.plug(rackPort(i), bridgeName, gw.Uplink)
		b.plug(rackUplink(i), rackBridge(i), gw.Uplink)
	}
}

// addWAN links two gateways by a veth pair or, with a delay or loss, by the relay. Each direction is
// shaped by its sender.
func (b *builder) addWAN(a, z *gateway, r Rate) {
	b.part = fmt.Sprintf("link %s-%s", a.Name, z.Name)
	near := linkEnd{a.ns, wanName(z), mac(wanIP(a.index, z.index))}
	far := linkEnd{z.ns, wanName(a), mac(wanIP(z.index, a.index))}
	if b.relay != nil {
		b.relay.join(b.openTap(near), b.openTap(far))
	} else {
		b.join(near, far)
	}
	for _, end := range [][2]*gateway{{a, z}, {z, a}} {
		from, to := end[0], end[1]
		name, peer := wanName(to), wanIP(to.index, from.index)
		b.enter(from.ns)
		b.address(name, wanIP(from.index, to.index), wanBits)
		b.point(name, peer, r)
		b.route(name, clusterNet(to.index), peer)
	}
}

// atWAN calls fn in the namespace of a cluster's gateway, which has a link to another one.
func (g *Grid) atWAN(from, to string, fn func(b *builder, from, to *gateway)) error {
	a, z := g.byName[from], g.byName[to]
	if a == nil || z == nil || a == z {
		return fmt.Errorf("netns: no link between %q and %q", from, to)
	}
	return g.build("link "+from+"-"+to, func(b *builder) {
		b.enter(a.ns)
		fn(b, a, z)
	})
}
