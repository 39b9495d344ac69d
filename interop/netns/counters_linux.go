package netns

import (
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
)

// WAN counts what a cluster has received from other clusters, at its gateway's interfaces: all
// protocols, acknowledgements and retransmissions included, without what was dropped in a queue on
// the way. Bulk TCP is about 0.2 % more than its payload, and some percent more with [Config.RTT],
// where hosts send smaller frames.
func (g *Grid) WAN(cluster string) (Count, error) {
	gw, links, err := g.counters(cluster)
	if err != nil {
		return Count{}, err
	}
	var sum Count
	for _, index := range gw.wan {
		c := received(links, index)
		sum.Bytes, sum.Frames = sum.Bytes+c.Bytes, sum.Frames+c.Frames
	}
	return sum, nil
}

// WANBytes is the bytes of [Grid.WAN].
func (g *Grid) WANBytes(cluster string) (uint64, error) {
	c, err := g.WAN(cluster)
	return c.Bytes, err
}

// LANBytes is the bytes that nodes of a cluster have sent to each other, counted like [Grid.WAN].
func (g *Grid) LANBytes(cluster string) (uint64, error) {
	gw, links, err := g.counters(cluster)
	if err != nil {
		return 0, err
	}
	ports := byName(links)
	var sent uint64
	for _, n := range gw.nodes {
		sent += arrived(ports[n.portName()]).Bytes
	}
	up := arrived(ports[bridgeName]).Bytes // received by the bridge itself: for other clusters
	return sent - min(up, sent), nil
}

// counters reads all interfaces of a cluster's gateway at one moment.
func (g *Grid) counters(cluster string) (*gateway, []netlink.Link, error) {
	gw := g.byName[cluster]
	if gw == nil {
		return nil, nil, fmt.Errorf("netns: no cluster %q", cluster)
	}
	var links []netlink.Link
	err := gw.ns.do(func() (err error) {
		links, err = netlink.LinkList()
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("netns: read the counters of %s: %w", cluster, err)
	}
	return gw, links, nil
}

func received(links []netlink.Link, index int) Count {
	i := slices.IndexFunc(links, func(l netlink.Link) bool { return l.Attrs().Index == index })
	if i < 0 {
		return Count{}
	}
	return arrived(links[i].Attrs())
}

// arrived is what has arrived at an interface, nothing if there is none.
func arrived(l *netlink.LinkAttrs) Count {
	if l == nil {
		return Count{}
	}
	return Count{l.Statistics.RxBytes, l.Statistics.RxPackets}
}
