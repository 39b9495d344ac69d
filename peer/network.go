package peer

import (
	"context"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// dialTimeout bounds a dial, handshakes included.
const dialTimeout = 8 * time.Second

// acceptor hands incoming streams and bulk channels to swarms.
type acceptor struct{ transfers *registry }

// serve accepts control streams, and bulk channels: sockets and streams.
func (a acceptor) serve(h libhost.Host, bulk *transport.Endpoint) {
	h.SetStreamHandler(proto.ControlProtocol, a.acceptControl)
	h.SetStreamHandler(proto.BulkProtocol, func(s network.Stream) { a.acceptChannel(s.Conn().RemotePeer(), s) })
	known := func(id libpeer.ID) bool { return transport.IsMember(h, id) }
	bulk.Handle(known, func(from libpeer.ID, c *transport.Conn) { a.acceptChannel(from, c) })
}

// acceptControl hands an incoming control stream to the swarm that its Hello names.
func (a acceptor) acceptControl(stream network.Stream) {
	_ = stream.SetDeadline(time.Now().Add(swarm.HandshakeTimeout))
	hello, err := swarm.ReadHello(stream)
	if err != nil {
		_ = stream.Reset()
		return
	}
	s := a.transfers.swarm(hello.Swarm)
	if s == nil {
		_ = proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the content is not here"})
		_ = stream.Close()
		return
	}
	s.Accept(stream, hello)
}

// acceptChannel hands an incoming bulk channel to the swarm that its BulkHello names, until the
// channel ends.
func (a acceptor) acceptChannel(from libpeer.ID, ch swarm.Channel) {
	defer func() { _ = ch.Reset() }()
	_ = ch.SetReadDeadline(time.Now().Add(swarm.HandshakeTimeout))
	m, _ := proto.ReadOpening(ch) // nil after an error
	hello, ok := m.(*proto.BulkHello)
	if !ok {
		return
	}
	if s := a.transfers.swarm(hello.Swarm); s != nil {
		s.AcceptBulk(from, ch)
	}
}

// preconnect connects in the background to nodes and trackers before the first request: over a long path the
// handshakes take longer than the reply.
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
