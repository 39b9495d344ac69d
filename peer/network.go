package peer

import (
	"context"
	"log/slog"
	"slices"
	"sync"
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

// dialer connects in the background to nodes and trackers, before the first request: over a long path the handshakes
// take longer than the reply.
type dialer struct {
	ctx  context.Context // ends all dials
	wg   *sync.WaitGroup
	host libhost.Host
	log  *slog.Logger
}

// connectAddrs connects to the nodes and trackers of some addresses.
func (d *dialer) connectAddrs(addrs []ma.Multiaddr) {
	infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil {
		return // the request fails with the same error
	}
	for _, info := range infos {
		d.connect(info)
	}
}

// connect connects to a node or a tracker.
func (d *dialer) connect(info libpeer.AddrInfo) {
	d.wg.Go(func() {
		ctx, cancel := context.WithTimeout(d.ctx, dialTimeout)
		defer cancel()
		if err := d.host.Connect(ctx, info); err != nil {
			d.log.Debug("not reached", "peer", info.ID, "error", err)
		}
	})
}

// reachable returns the addresses of the host, without loopback addresses if there are other ones.
func (d *dialer) reachable() []ma.Multiaddr {
	all := d.host.Addrs()
	far := slices.DeleteFunc(slices.Clone(all), manet.IsIPLoopback)
	if len(far) == 0 {
		far = all
	}
	return far[:min(len(far), proto.MaxAddrs)]
}

// addrBytes returns the reachable addresses as binary multiaddrs.
func (d *dialer) addrBytes() [][]byte {
	var out [][]byte
	for _, a := range d.reachable() {
		if b := a.Bytes(); len(b) <= proto.MaxAddr {
			out = append(out, b)
		}
	}
	return out
}
