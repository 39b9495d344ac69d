package transport

import (
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// sharedTCP is libp2p's TCP transport on a port that it shares with bulk sockets.
type sharedTCP struct {
	*tcp.TcpTransport
	upgrader transport.Upgrader
	endpoint *Endpoint
}

// newTCP returns the transport of a host's connections. No other socket may share its port: a second daemon would
// start beside the first, each with its own identity and half of the connections.
func newTCP(up transport.Upgrader, rm *limits, bulk *Endpoint) (transport.Transport, error) {
	t, err := tcp.NewTCPTransport(up, rm, nil, tcp.DisableReuseport())
	if err != nil || bulk == nil {
		return t, err
	}
	bulk.mu.Lock()
	defer bulk.mu.Unlock()
	bulk.rcmgr = rm
	return &sharedTCP{TcpTransport: t, upgrader: up, endpoint: bulk}, nil
}

func (t *sharedTCP) Listen(addr ma.Multiaddr) (transport.Listener, error) {
	l, err := manet.Listen(addr)
	if err != nil {
		return nil, err
	}
	// The gate comes first, so that it counts connections of every kind.
	gated := t.upgrader.GateMaListener(l)
	return t.upgrader.UpgradeGatedMaListener(t, newListener(gated, t.endpoint.handshake)), nil
}
