package agent

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/tracker"
)

// Finder makes clients of trackers for a node.
func Finder(h libhost.Host, addrs []ma.Multiaddr) peer.Finder {
	infos, _ := libpeer.AddrInfosFromP2pAddrs(addrs...) // those of a caster, which has made them itself
	return tracker.NewClient(h, infos, tracker.ClientConfig{})
}

// session is how many bytes a session is worth, see [mob.Tuning]: to open one takes both ends a millisecond or
// two, in which a fast network moves so many.
const session = 256 << 10

// Tuning returns the tuning of the nodes of a cast. The length of a content is known from the start, that of a
// stream is not.
func Tuning(content bool) mob.Tuning {
	t := mob.DefaultTuning()
	if content {
		t.Session = session
	}
	return t
}

// startNode starts the node of an agent, in a folder of its own.
func (a *agent) startNode(s *Start) (err error) {
	key, err := crypto.UnmarshalPrivateKey(s.Key)
	if err != nil {
		return err
	}
	id, err := membership.ParseID(s.Network)
	if err != nil {
		return err
	}
	grant, err := membership.ParseGrant([]byte(s.Grant))
	if err != nil {
		return err
	}
	dir := filepath.Join(a.server.Dir, "node")
	if err := datadir.Create(dir); err != nil {
		return err
	}
	if err := datadir.SaveKey(dir, key); err != nil {
		return err
	}
	a.node, err = peer.Start(peer.Config{
		Data:    dir,
		Cluster: s.Cluster,
		Listen:  ListenAddrs(),
		Network: &membership.Config{Network: id, Grant: grant},
		Finder:  Finder,
		Tuning:  Tuning(s.Link != ""),
	})
	return err
}

// casterWait bounds the wait for a connection with the caster. The fetch that follows goes on trying.
const casterWait = 2 * time.Second

// meetCaster waits until the node is connected to the caster or ctx ends, whichever of the two can reach the other:
// one of them may be behind a NAT. A dial of the caster that nobody answers would hold up all that the
// node wants to ask it.
func (a *agent) meetCaster(ctx context.Context, s *Start) error {
	addrs, err := parseAddrs(s.Caster)
	if err != nil {
		return err
	}
	infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil {
		return err
	}
	if len(infos) != 1 {
		return errors.New("the caster has no address")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	caster, h := infos[0], a.node.Host()
	met := &network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		if c.RemotePeer() == caster.ID {
			cancel()
		}
	}}
	h.Network().Notify(met)
	defer h.Network().StopNotify(met)
	if h.Connect(ctx, caster) != nil {
		<-ctx.Done()
	}
	return nil
}

// ListenAddrs returns addresses for a node that others are to reach by any network of this machine:
// a free TCP port of each address, or of the loopback interface if there is no other. The addresses of
// the default routes come first.
func ListenAddrs() (out []ma.Multiaddr) {
	var all []netip.Addr
	ifs, _ := net.InterfaceAddrs()
	for _, a := range ifs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, p.Addr().Unmap())
		}
	}
	all = slices.DeleteFunc(all, func(a netip.Addr) bool { return !a.IsGlobalUnicast() || !bindable(a) })
	routes := defaultRoutes()
	rank := func(a netip.Addr) int {
		switch {
		case slices.Contains(routes, a):
			return 0
		case a.Is4():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return cmp.Compare(rank(a), rank(b)) })
	if len(all) == 0 {
		all = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	for _, a := range all[:min(len(all), MaxAddrs)] {
		if m, err := manet.FromNetAddr(net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0))); err == nil {
			out = append(out, m)
		}
	}
	return out
}

// bindable reports whether a socket can listen at an address: IPv6 may be half switched off.
func bindable(a netip.Addr) bool {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// defaultRoutes returns the addresses from which this machine talks to the Internet. Nothing is sent.
func defaultRoutes() (out []netip.Addr) {
	for _, far := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // of the documentation (RFC 5737, RFC 3849)
		if c, err := net.Dial("udp", far); err == nil {
			out = append(out, c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap())
			_ = c.Close()
		}
	}
	return out
}

// parseAddrs parses multiaddrs.
func parseAddrs(given []string) (out []ma.Multiaddr, err error) {
	for _, text := range given {
		a, e := ma.NewMultiaddr(text)
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		out = append(out, a)
	}
	return out, err
}

// texts are the text forms of multiaddrs.
func texts(addrs []ma.Multiaddr) (out []string) {
	for _, a := range addrs {
		out = append(out, a.String())
	}
	return out
}
