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

// transport is the transport constructor for [libp2p.Transport].
func (e *Endpoint) transport(up transport.Upgrader, rcmgr network.ResourceManager) (*sharedTCP, error) {
	t, err := tcp.NewTCPTransport(up, rcmgr, nil, tcp.DisableReuseport())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rcmgr = rcmgr
	return &sharedTCP{TcpTransport: t, upgrader: up, endpoint: e}, nil
}

// Listen implements [transport.Transport].
func (t *sharedTCP) Listen(at ma.Multiaddr) (transport.Listener, error) {
	l, err := manet.Listen(at)
	if err != nil {
		return nil, err
	}
	// The gate first: it counts connections of every kind.
	return t.upgrader.UpgradeGatedMaListener(t, share(t.upgrader.GateMaListener(l), t.endpoint.routes)), nil
}
