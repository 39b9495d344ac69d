package peer

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	libswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// dialTimeout bounds a dial, handshakes included.
const dialTimeout = 8 * time.Second

// nodeNetwork implements [swarm.Network].
type nodeNetwork Node

// OpenStream implements [swarm.Network]. It ignores libp2p's backoff after a failed dial, since
// swarms have their own.
func (n *nodeNetwork) OpenStream(ctx context.Context, to libpeer.AddrInfo, id protocol.ID) (network.Stream, error) {
	if sw, ok := n.host.Network().(*libswarm.Swarm); ok {
		sw.Backoff().Clear(to.ID)
	}
	if err := n.host.Connect(ctx, to); err != nil {
		return nil, err
	}
	return n.host.NewStream(ctx, to.ID, id)
}

// CloseOld implements [swarm.Network]. TCP would send again what was lost after ever longer times.
func (n *nodeNetwork) CloseOld(id libpeer.ID, before time.Time) {
	if n.host.ConnManager().IsProtected(id, "") {
		return
	}
	for _, c := range n.host.Network().ConnsToPeer(id) {
		if c.Stat().Opened.Before(before) {
			_ = c.Close()
		}
	}
}

// DialBulk implements [swarm.Network].
func (n *nodeNetwork) DialBulk(ctx context.Context, to libpeer.ID, at ma.Multiaddr) (*transport.Conn, error) {
	return n.bulk.Dial(ctx, to, at)
}

// KnownAddrs implements [swarm.Network].
func (n *nodeNetwork) KnownAddrs(id libpeer.ID) []ma.Multiaddr { return n.host.Peerstore().Addrs(id) }

// Protect implements [swarm.Network].
func (n *nodeNetwork) Protect(id libpeer.ID, tag string) { n.host.ConnManager().Protect(id, tag) }

// Unprotect implements [swarm.Network].
func (n *nodeNetwork) Unprotect(id libpeer.ID, tag string) { n.host.ConnManager().Unprotect(id, tag) }

// Addrs implements [swarm.Network].
func (n *nodeNetwork) Addrs() [][]byte { return (*Node)(n).addrBytes() }

// acceptControl hands an incoming control stream to the swarm that its Hello names.
func (n *Node) acceptControl(stream network.Stream) {
	_ = stream.SetDeadline(time.Now().Add(swarm.HandshakeTimeout))
	hello, err := swarm.ReadHello(stream)
	if err != nil {
		_ = stream.Reset()
		return
	}
	s := n.swarm(hello.Swarm)
	if s == nil {
		_ = proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the content is not here"})
		_ = stream.Close()
		return
	}
	s.Accept(stream, hello)
}

// acceptBulk accepts bulk channels: sockets and streams.
func (n *Node) acceptBulk() {
	n.host.SetStreamHandler(proto.BulkProtocol, func(s network.Stream) { n.acceptChannel(s.Conn().RemotePeer(), s) })
	known := func(id libpeer.ID) bool { return transport.IsMember(n.host, id) }
	n.bulk.Handle(known, func(from libpeer.ID, c *transport.Conn) { n.acceptChannel(from, c) })
}

// acceptChannel hands an incoming bulk channel to the swarm that its BulkHello names, until the
// channel ends.
func (n *Node) acceptChannel(from libpeer.ID, ch swarm.Channel) {
	defer func() { _ = ch.Reset() }()
	_ = ch.SetReadDeadline(time.Now().Add(swarm.HandshakeTimeout))
	m, _ := proto.ReadOpening(ch) // nil after an error
	hello, ok := m.(*proto.BulkHello)
	if !ok {
		return
	}
	if s := n.swarm(hello.Swarm); s != nil {
		s.AcceptBulk(from, ch)
	}
}

// preconnect connects in the background to nodes and trackers that will soon be asked for
// something: over a long path the handshakes take longer than the answer.
func (n *Node) preconnect(addrs []ma.Multiaddr) {
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
