package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Part of the protocol.
const (
	// ALPN tells a bulk socket from other TLS on the same port.
	ALPN = "mob-bulk/1"
	// tlsPrefix is how every TLS connection begins: a handshake record, and the
	// major version, which has been 3 ever since.
	tlsPrefix = "\x16\x03"
)

// handshakeTimeout bounds the TLS handshake of an incoming socket. Peers that
// are far away need three round trips.
const handshakeTimeout = 5 * time.Second

// Endpoint is a host's end of all its bulk sockets. Its methods may be called
// from any goroutine.
type Endpoint struct {
	// Constant.
	identity *libp2ptls.Identity
	routes   []route

	mu     sync.Mutex
	rcmgr  network.ResourceManager // nil before the host is there
	accept func(peer.ID, *Conn)    // nil before Handle
	known  func(peer.ID) bool
	open   map[*Conn]struct{} // accepted sockets, until their handler returns
	closed bool
	wg     sync.WaitGroup
}

// NewEndpoint is an endpoint of the node with that key. It hears nothing before a host
// is made with [NewHost].
func NewEndpoint(key crypto.PrivKey) (*Endpoint, error) {
	identity, err := libp2ptls.NewIdentity(key)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{identity: identity, open: map[*Conn]struct{}{}}
	e.routes = []route{{tlsPrefix, e.take}}
	return e, nil
}

// Handle has accept called, in its own goroutine, for every socket that a peer
// opens whom known vouches for. The socket is closed when accept returns.
// Others, and those that come before, are closed at once.
func (e *Endpoint) Handle(known func(peer.ID) bool, accept func(from peer.ID, c *Conn)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known, e.accept = known, accept
}

// Close ends all accepted sockets and waits for their handlers. Those that were
// dialled are their users'.
func (e *Endpoint) Close() {
	e.mu.Lock()
	e.closed = true
	for c := range e.open {
		_ = c.Reset()
	}
	e.mu.Unlock()
	e.wg.Wait()
}

// Dial opens a socket to a peer at an address of type /ip/tcp, and fails unless
// it is that peer who answers. The caller bounds it with ctx.
func (e *Endpoint) Dial(ctx context.Context, to peer.ID, at ma.Multiaddr) (*Conn, error) {
	scope, err := e.reserve(to, at)
	if err != nil {
		return nil, err
	}
	var d manet.Dialer
	raw, err := d.DialContext(ctx, at)
	if err != nil {
		scope.Done()
		return nil, err
	}
	tune(raw)
	if k := kernel(raw); k != nil {
		limitUnsent(k, maxUnsent)
	}
	config, _ := e.config(to)
	below := newGatherer(raw, raw)
	c := &Conn{secure: tls.Client(below, config), below: below, raw: raw, scope: scope}
	if err := c.secure.HandshakeContext(ctx); err != nil {
		_ = c.Reset()
		return nil, err
	}
	// A server that does not know the ALPN may go on without one.
	if p := c.secure.ConnectionState().NegotiatedProtocol; p != ALPN {
		_ = c.Reset()
		return nil, fmt.Errorf("%s speaks %q", at, p)
	}
	return c, nil
}

// reserve counts a socket to be dialled among the host's connections.
func (e *Endpoint) reserve(to peer.ID, at ma.Multiaddr) (network.ConnManagementScope, error) {
	e.mu.Lock()
	rcmgr := e.rcmgr
	e.mu.Unlock()
	if rcmgr == nil {
		return nil, errors.New("the host is not there yet")
	}
	scope, err := rcmgr.OpenConnection(network.DirOutbound, true, at)
	if err != nil {
		return nil, err
	}
	if err := scope.SetPeer(to); err != nil {
		scope.Done()
		return nil, err
	}
	return scope, nil
}

// config is for one handshake with a peer, anyone if it is empty. The peer's key
// comes on the channel.
func (e *Endpoint) config(with peer.ID) (*tls.Config, <-chan crypto.PubKey) {
	config, key := e.identity.ConfigForPeer(with)
	config.NextProtos = []string{ALPN}
	// Small records at first would spare a web page a moment; here they cost.
	config.DynamicRecordSizingDisabled = true
	return config, key
}

// take sees who has opened a socket, and has it handled if that is somebody known.
func (e *Endpoint) take(raw net.Conn, in incoming) {
	config, key := e.config("")
	below := newGatherer(raw, in.conn)
	c := &Conn{secure: tls.Server(below, config), below: below, raw: in.conn, scope: in.scope}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	if c.secure.HandshakeContext(ctx) != nil || c.secure.ConnectionState().NegotiatedProtocol != ALPN {
		_ = c.Reset()
		return
	}
	from, err := peer.IDFromPublicKey(<-key) // there after every handshake that succeeds
	if err != nil || in.scope.SetPeer(from) != nil || !e.serve(from, c) {
		_ = c.Reset()
	}
}

// serve is false when the socket is of no use.
func (e *Endpoint) serve(from peer.ID, c *Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.accept == nil || !e.known(from) {
		return false
	}
	e.open[c] = struct{}{}
	e.wg.Go(func() {
		e.accept(from, c)
		_ = c.Reset()
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.open, c)
	})
	return true
}
