package bulk

import (
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Transport is libp2p's TCP transport on a port that it shares with bulk sockets.
type Transport struct {
	*tcp.TcpTransport
	upgrader transport.Upgrader
	endpoint *Endpoint
}

// Transport is the constructor of the host's transport, for libp2p.Transport.
func (e *Endpoint) Transport(up transport.Upgrader, rcmgr network.ResourceManager) (*Transport, error) {
	// A shared port would let a second daemon start beside the first, each
	// with an identity of its own and half of the connections.
	t, err := tcp.NewTCPTransport(up, rcmgr, nil, tcp.DisableReuseport())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rcmgr = rcmgr
	return &Transport{TcpTransport: t, upgrader: up, endpoint: e}, nil
}

// Listen implements [transport.Transport].
func (t *Transport) Listen(at ma.Multiaddr) (transport.Listener, error) {
	l, err := manet.Listen(at)
	if err != nil {
		return nil, err
	}
	// The gate first: it counts connections of every kind.
	return t.upgrader.UpgradeGatedMaListener(t, share(t.upgrader.GateMaListener(l), t.endpoint.routes)), nil
}
