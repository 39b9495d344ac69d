package netns

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/vishvananda/netlink"
)

// LinkBytes counts the traffic of each WAN link in each direction, sorted by From and To. Those To
// a cluster add up to its [Grid.WAN]. A call takes less than a millisecond per cluster, so it may
// be called ten times a second. It reads gateways one after the other.
func (g *Grid) LinkBytes() ([]LinkBytes, error) {
	var all []LinkBytes
	for _, gw := range g.gateways {
		_, links, err := g.counters(gw.Name)
		if err != nil {
			return nil, err
		}
		for from, index := range gw.wan {
			all = append(all, LinkBytes{From: from, To: gw.Name, Count: received(links, index)})
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
		_, links, err := g.counters(gw.Name)
		if err != nil {
			return nil, err
		}
		ports := byName(links)
		for i := range gw.Racks {
			all = append(all,
				LinkBytes{From: gw.Name, To: gw.RackName(i), Count: arrived(ports[rackUplink(i)])},
				LinkBytes{From: gw.RackName(i), To: gw.Name, Count: arrived(ports[rackPort(i)])})
		}
	}
	return all, nil
}

// byName indexes interfaces by their names.
func byName(links []netlink.Link) map[string]*netlink.LinkAttrs {
	all := make(map[string]*netlink.LinkAttrs, len(links))
	for _, l := range links {
		all[l.Attrs().Name] = l.Attrs()
	}
	return all
}

// NICBytes counts the traffic that each node of a cluster has sent through its NIC on the LAN: From
// is the node, such as A3, and To the cluster, in the order of the nodes. It costs as much as
// LinkBytes.
func (g *Grid) NICBytes(cluster string) ([]LinkBytes, error) {
	gw, links, err := g.counters(cluster)
	if err != nil {
		return nil, err
	}
	all := make([]LinkBytes, len(gw.nodes))
	ports := byName(links)
	for i, n := range gw.nodes {
		all[i] = LinkBytes{From: cluster + strconv.Itoa(n.Index), To: cluster, Count: arrived(ports[n.portName()])}
	}
	return all, nil
}
