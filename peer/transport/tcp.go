package transport

import (
	"github.com/libp2p/go-libp2p/core/network"
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

// newSharedTCP returns the transport on the endpoint's port.
func (e *Endpoint) newSharedTCP(up transport.Upgrader, rcmgr network.ResourceManager) (*sharedTCP, error) {
	t, err := tcp.NewTCPTransport(up, rcmgr, nil, tcp.DisableReuseport())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rcmgr = rcmgr
	return &sharedTCP{TcpTransport: t, upgrader: up, endpoint: e}, nil
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
