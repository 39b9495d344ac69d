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

// dialTimeout bounds a dial with its handshakes.
const dialTimeout = 8 * time.Second

// nodeNetwork is a node as the network of its swarms.
type nodeNetwork Node

// OpenStream implements [swarm.Network], without the pause that libp2p makes after a failed
// dial: the callers have their own.
func (n *nodeNetwork) OpenStream(ctx context.Context, to libpeer.AddrInfo, id protocol.ID) (network.Stream, error) {
	if sw, ok := n.host.Network().(*libswarm.Swarm); ok {
		sw.Backoff().Clear(to.ID)
	}
	if err := n.host.Connect(ctx, to); err != nil {
		return nil, err
	}
	return n.host.NewStream(ctx, to.ID, id)
}

// DialBulk implements [swarm.Network].
func (n *nodeNetwork) DialBulk(ctx context.Context, to libpeer.ID, at ma.Multiaddr) (*transport.Conn, error) {
	return n.bulk.Dial(ctx, to, at)
}

// KnownAddrs implements [swarm.Network].
func (n *nodeNetwork) KnownAddrs(id libpeer.ID) []ma.Multiaddr { return n.host.Peerstore().Addrs(id) }

// Addrs implements [swarm.Network].
func (n *nodeNetwork) Addrs() [][]byte { return (*Node)(n).addrBytes() }

// acceptControl hands a control stream that a peer opened to the swarm that it names.
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

// acceptBulk has every bulk channel that peers open handed to the swarm that it names.
func (n *Node) acceptBulk() {
	n.host.SetStreamHandler(proto.BulkProtocol, func(s network.Stream) { n.acceptChannel(s.Conn().RemotePeer(), s) })
	connected := func(id libpeer.ID) bool { return n.host.Network().Connectedness(id) == network.Connected }
	n.bulk.Handle(connected, func(from libpeer.ID, c *transport.Conn) { n.acceptChannel(from, c) })
}

// acceptChannel serves a bulk channel until it ends.
func (n *Node) acceptChannel(from libpeer.ID, ch swarm.Channel) {
	defer func() { _ = ch.Reset() }()
	_ = ch.SetReadDeadline(time.Now().Add(swarm.HandshakeTimeout))
	m, _ := proto.ReadMessage(ch) // nil after an error
	hello, ok := m.(*proto.BulkHello)
	if !ok {
		return
	}
	if s := n.swarm(hello.Swarm); s != nil {
		s.AcceptBulk(from, ch)
	}
}
