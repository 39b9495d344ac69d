package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// ethernetMTU is the MTU of all interfaces.
const ethernetMTU = 1500

// namespace is the file descriptor of a network namespace without a name, -1 for none. The namespace
// lives as long as the descriptor, and the processes and sockets in it.
type namespace int

// linkEnd is one end of a link. Without a hardware address the kernel chooses one.
type linkEnd struct {
	ns   namespace
	name string
	mac  net.HardwareAddr
}

// builder makes the parts of a grid on the grid's thread, in the namespace that it entered last. After
// an error it does nothing.
type builder struct {
	*Grid
	part string // of the grid, for errors
	err  error
}

// build runs fn with a builder.
func (g *Grid) build(part string, fn func(b *builder)) error {
	b := &builder{Grid: g, part: part}
	return g.thread.do(func() error {
		fn(b)
		return b.err
	})
}

func (b *builder) do(what string, fn func() error) {
	if b.err != nil {
		return
	}
	if err := fn(); err != nil {
		b.err = fmt.Errorf("netns: %s: %s: %w", b.part, what, err)
	}
}

// with calls fn with an interface.
func (b *builder) with(what, name string, fn func(netlink.Link) error) {
	b.do(what+" "+name, func() error {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		return fn(link)
	})
}

// newNamespace makes a namespace with the loopback interface up and IPv6 off, and enters it.
func (b *builder) newNamespace() namespace {
	ns := -1
	b.do("make a network namespace", func() error { return unix.Unshare(unix.CLONE_NEWNET) })
	b.do("hold a network namespace", func() (err error) {
		ns, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	for _, scope := range []string{"all", "default"} {
		b.sysctl("net/ipv6/conf/"+scope+"/disable_ipv6", "1")
	}
	b.up("lo")
	return namespace(ns)
}

func (b *builder) enter(ns namespace) { b.do("enter a network namespace", ns.enter) }

// enter moves the calling thread into the namespace.
func (ns namespace) enter() error { return unix.Setns(int(ns), unix.CLONE_NEWNET) }

// sysctl sets a kernel parameter of the namespace, if the kernel has it.
func (b *builder) sysctl(name, value string) {
	b.do("set "+name, func() error {
		err := writeSysctl(name, value)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// writeSysctl sets a kernel parameter of the calling thread's namespace.
func writeSysctl(name, value string) error {
	f, err := os.OpenFile("/proc/sys/"+name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// join makes a veth pair between two namespaces, with both ends down, and enters the first one.
func (b *builder) join(near, far linkEnd) {
	b.enter(near.ns)
	b.do("add "+near.name, func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU, attrs.HardwareAddr = near.name, ethernetMTU, near.mac
		veth := netlink.NewVeth(attrs)
		veth.PeerName, veth.PeerMTU, veth.PeerHardwareAddr = far.name, ethernetMTU, far.mac
		veth.PeerNamespace = netlink.NsFd(far.ns)
		return netlink.LinkAdd(veth)
	})
}

// bridge adds a bridge. The kernel changes the hardware address of one that is given none with its ports.
func (b *builder) bridge(name string, mac net.HardwareAddr) {
	b.do("add "+name, func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU, attrs.HardwareAddr = name, ethernetMTU, mac
		return netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs})
	})
	b.up(name)
}

// plug makes an interface a port of a bridge, and limits the rate from the bridge into the port.
func (b *builder) plug(port, bridge string, r Rate) {
	b.with("plug into "+bridge, port, func(p netlink.Link) error {
		to, err := netlink.LinkByName(bridge)
		if err != nil {
			return err
		}
		return netlink.LinkSetMaster(p, to)
	})
	b.up(port)
	b.shape(port, r)
}

func (b *builder) up(name string) { b.with("set up", name, netlink.LinkSetUp) }

// address gives an interface its address and sets it up. It adds no route.
func (b *builder) address(name string, ip netip.Addr, bits int) {
	b.with("give an address to", name, func(link netlink.Link) error {
		addr := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(ip, bits)), Flags: unix.IFA_F_NOPREFIXROUTE}
		return netlink.AddrAdd(link, addr)
	})
	b.up(name)
}

// route routes a network through an interface, by a gateway if via is valid.
func (b *builder) route(name string, to *net.IPNet, via netip.Addr) {
	b.with("route through", name, func(link netlink.Link) error {
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
		if b.congestion.route != "" {
			req.AddData(b.congestion.metrics())
		}
		_, err := req.Execute(unix.NETLINK_ROUTE, 0)
		return err
	})
}

// neighbors adds the hardware addresses of IP addresses permanently. ARP would find them too, but its
// table is shared by the whole machine, and its packets wait in full queues.
func (b *builder) neighbors(name string, ips ...netip.Addr) {
	b.with("add neighbors to", name, func(link netlink.Link) error {
		for _, ip := range ips {
			err := netlink.NeighAdd(&netlink.Neigh{
				LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT, IP: ip.AsSlice(), HardwareAddr: mac(ip),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// point sets up one end of a link to a single peer.
func (b *builder) point(name string, peer netip.Addr, r Rate) {
	b.up(name)
	b.route(name, ipNet(netip.PrefixFrom(peer, 32)), netip.Addr{})
	b.neighbors(name, peer)
	b.shape(name, r)
}
