package peer

import (
	"context"
	"slices"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// dialTimeout bounds a dial, handshakes included.
const dialTimeout = 8 * time.Second

// accept hands incoming control streams, and bulk channels, which are sockets and streams, to swarms.
func (r *registry) accept(h libhost.Host, bulk *transport.Endpoint) {
	h.SetStreamHandler(proto.ControlProtocol, r.acceptControl)
	h.SetStreamHandler(proto.BulkProtocol, func(s network.Stream) { r.acceptChannel(s.Conn().RemotePeer(), s) })
	known := func(id libpeer.ID) bool { return transport.IsMember(h, id) }
	bulk.Handle(known, func(from libpeer.ID, c *transport.Conn) { r.acceptChannel(from, c) })
}

// acceptControl hands an incoming control stream to the swarm that its Hello names.
func (r *registry) acceptControl(stream network.Stream) {
	_ = stream.SetDeadline(time.Now().Add(swarm.HandshakeTimeout))
	hello, err := swarm.ReadHello(stream)
	if err != nil {
		_ = stream.Reset()
		return
	}
	s := r.swarm(hello.Swarm)
	if s == nil {
		_ = proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the content is not here"})
		_ = stream.Close()
		return
	}
	s.Accept(stream, hello)
}

// acceptChannel hands an incoming bulk channel to the swarm that its BulkHello names, until the
// channel ends.
func (r *registry) acceptChannel(from libpeer.ID, ch swarm.Channel) {
	defer func() { _ = ch.Reset() }()
	_ = ch.SetReadDeadline(time.Now().Add(swarm.HandshakeTimeout))
	m, _ := proto.ReadOpening(ch) // nil after an error
	hello, ok := m.(*proto.BulkHello)
	if !ok {
		return
	}
	if s := r.swarm(hello.Swarm); s != nil {
		s.AcceptBulk(from, ch)
	}
}

// connectAddrs connects in the background to the nodes and trackers of some addresses, before the first request: over a
// long path the handshakes take longer than the reply.
func (n *Node) connectAddrs(addrs []ma.Multiaddr) {
	infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil {
		return // the request fails with the same error
	}
	for _, info := range infos {
		n.connect(info)
	}
}

// connect connects in the background to a node or a tracker.
func (n *Node) connect(info libpeer.AddrInfo) {
	n.wg.Go(func() {
		ctx, cancel := context.WithTimeout(n.ctx, dialTimeout)
		defer cancel()
		if err := n.host.Connect(ctx, info); err != nil {
			n.log.Debug("not reached", "peer", info.ID, "error", err)
		}
	})
}

// reachable returns the addresses of the host, without loopback addresses if there are other ones.
func (n *Node) reachable() []ma.Multiaddr {
	all := n.host.Addrs()
	far := slices.DeleteFunc(slices.Clone(all), manet.IsIPLoopback)
	if len(far) == 0 {
		far = all
	}
	return far[:min(len(far), proto.MaxAddrs)]
}

// addrBytes returns the reachable addresses as binary multiaddrs.
func (n *Node) addrBytes() [][]byte {
	var out [][]byte
	for _, a := range n.reachable() {
		if b := a.Bytes(); len(b) <= proto.MaxAddr {
			out = append(out, b)
		}
	}
	return out
}
