package netns

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
)

// counters reads the traffic that has arrived at the interfaces of a cluster's gateway, by their names.
func (g *Grid) counters(cluster string) (*gateway, map[string]Count, error) {
	gw := g.byName[cluster]
	if gw == nil {
		return nil, nil, fmt.Errorf("netns: no cluster %q", cluster)
	}
	all := make(map[string]Count)
	err := g.in(gw.ns, func() error {
		links, err := netlink.LinkList()
		for _, l := range links {
			a := l.Attrs()
			all[a.Name] = Count{a.Statistics.RxBytes, a.Statistics.RxPackets}
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("netns: read the counters of %s: %w", cluster, err)
	}
	return gw, all, nil
}

// WANBytes is the bytes that a cluster has received from other clusters, at its gateway's interfaces: all
// protocols, acknowledgements and retransmissions included, without frames that a queue dropped before.
// Bulk TCP is about 0.2 % more than its payload, and some percent more with [Config.RTT],
// where hosts send smaller frames.
func (g *Grid) WANBytes(cluster string) (sum uint64, err error) {
	_, ports, err := g.counters(cluster)
	for _, other := range g.gateways {
		sum += ports[wanName(other)].Bytes
	}
	return sum, err
}

// LANBytes is the bytes that nodes of a cluster have sent to each other, counted like [Grid.WANBytes].
func (g *Grid) LANBytes(cluster string) (uint64, error) {
	gw, ports, err := g.counters(cluster)
	if err != nil {
		return 0, err
	}
	var sent uint64
	for _, n := range gw.nodes {
		sent += ports[n.portName()].Bytes
	}
	up := ports[bridgeName].Bytes // received by the bridge itself: for other clusters
	return sent - min(up, sent), nil
}

// LinkBytes counts the traffic of each WAN link in each direction, sorted by From and To. Links To
// a cluster add up to its [Grid.WANBytes]. A call takes less than a millisecond per cluster, so it may
// be called ten times a second. It reads gateways one after the other.
func (g *Grid) LinkBytes() ([]LinkBytes, error) {
	var all []LinkBytes
	for _, to := range g.gateways {
		_, ports, err := g.counters(to.Name)
		if err != nil {
			return nil, err
		}
		for _, from := range g.gateways {
			if from != to {
				all = append(all, LinkBytes{from.Name, to.Name, ports[wanName(from)]})
			}
		}
	}
	slices.SortFunc(all, func(x, y LinkBytes) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	return all, nil
}

// UplinkBytes counts the traffic of each rack's uplink, into the rack and then out of it, in the
// order of clusters and racks. It costs as much as LinkBytes.
func (g *Grid) UplinkBytes() ([]LinkBytes, error) {
	var all []LinkBytes
	for _, gw := range g.gateways {
		if len(gw.Racks) == 0 {
			continue
		}
		_, ports, err := g.counters(gw.Name)
		if err != nil {
			return nil, err
		}
		for i := range gw.Racks {
			all = append(all,
				LinkBytes{gw.Name, gw.RackName(i), ports[rackUplink(i)]},
				LinkBytes{gw.RackName(i), gw.Name, ports[rackPort(i)]})
		}
	}
	return all, nil
}

// NICBytes counts the traffic that each node of a cluster has sent through its NIC on the LAN: From
// is the node, such as A3, and To the cluster, in the order of the nodes. It costs as much as
// LinkBytes.
func (g *Grid) NICBytes(cluster string) ([]LinkBytes, error) {
	gw, ports, err := g.counters(cluster)
	if err != nil {
		return nil, err
	}
	all := make([]LinkBytes, len(gw.nodes))
	for i, n := range gw.nodes {
		all[i] = LinkBytes{n.Name(), cluster, ports[n.portName()]}
	}
	return all, nil
}
