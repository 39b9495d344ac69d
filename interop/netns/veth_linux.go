package netns

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// ethernetMTU is the MTU of all interfaces.
const ethernetMTU = 1500

// linkEnd is one end of a link.
type linkEnd struct {
	ns   namespace
	name string
	mac  net.HardwareAddr // nil: the kernel chooses one
}

// joinByVeth makes a veth pair between two namespaces, with both ends still down.
func joinByVeth(near, far linkEnd) error {
	err := near.ns.do(func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU, attrs.HardwareAddr = near.name, ethernetMTU, near.mac
		veth := netlink.NewVeth(attrs)
		veth.PeerName, veth.PeerMTU, veth.PeerHardwareAddr = far.name, ethernetMTU, far.mac
		veth.PeerNamespace = netlink.NsFd(far.ns.fd)
		return netlink.LinkAdd(veth)
	})
	if err != nil {
		return fmt.Errorf("join %s and %s by veth: %w", near.name, far.name, err)
	}
	return nil
}

// bringUp gives an interface its address and sets it up, in the calling thread's namespace. All
// routes are left to the caller, that to the interface's own network included.
func bringUp(link netlink.Link, ip netip.Addr, bits int) error {
	addr := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(ip, bits)), Flags: unix.IFA_F_NOPREFIXROUTE}
	if err := netlink.AddrAdd(link, addr); err != nil {
		return fmt.Errorf("give %s the address %v: %w", link.Attrs().Name, ip, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set %s up: %w", link.Attrs().Name, err)
	}
	return nil
}

// addRoute routes a network through an interface, by a gateway if via is valid.
func addRoute(link netlink.Link, to *net.IPNet, via netip.Addr, c congestion) error {
	msg := nl.NewRtMsg()
	bits, _ := to.Mask.Size()
	msg.Family, msg.Dst_len = unix.AF_INET, uint8(bits)
	req := nl.NewNetlinkRequest(unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	req.AddData(msg)
	req.AddData(nl.NewRtAttr(unix.RTA_DST, to.IP.To4()))
	req.AddData(nl.NewRtAttr(unix.RTA_OIF, nl.Uint32Attr(uint32(link.Attrs().Index))))
	if via.IsValid() {
		req.AddData(nl.NewRtAttr(unix.RTA_GATEWAY, via.AsSlice()))
	} else {
		msg.Scope = unix.RT_SCOPE_LINK
	}
	if c.route != "" {
		req.AddData(c.metrics())
	}
	if _, err := req.Execute(unix.NETLINK_ROUTE, 0); err != nil {
		return fmt.Errorf("route %v through %s: %w", to, link.Attrs().Name, err)
	}
	return nil
}

// addNeighbor adds the hardware address of an IP address for good. ARP would find it too, but its
// table is shared by the whole machine (a thousand entries, which three clusters of twenty nodes
// fill), and its packets wait in full queues.
func addNeighbor(link netlink.Link, ip netip.Addr) error {
	err := netlink.NeighAdd(&netlink.Neigh{
		LinkIndex:    link.Attrs().Index,
		State:        netlink.NUD_PERMANENT,
		IP:           ip.AsSlice(),
		HardwareAddr: mac(ip),
	})
	if err != nil {
		return fmt.Errorf("make %v a neighbor on %s: %w", ip, link.Attrs().Name, err)
	}
	return nil
}
