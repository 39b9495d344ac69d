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

// Protocol constants.
const (
	// alpn distinguishes bulk sockets from other TLS on the same port.
	alpn = "mob-bulk/2"
	// alpnTLS is the ALPN of earlier versions, with records of TLS after the handshake.
	alpnTLS = "mob-bulk/1"
	// tlsPrefix starts every TLS connection: a handshake record, and the major
	// version, which is always 3.
	tlsPrefix = "\x16\x03"
)

// handshakeTimeout bounds the TLS handshake of an incoming socket. Distant peers need
// three round trips.
const handshakeTimeout = 5 * time.Second

// Endpoint dials and accepts the bulk sockets of one host. Its methods may be called
// from any goroutine.
type Endpoint struct {
	// Constant.
	identity  *libp2ptls.Identity
	protocols []string // ALPN, the preferred first

	mu     sync.Mutex
	rcmgr  network.ResourceManager // nil before NewHost
	accept func(peer.ID, *Conn)    // nil before Handle
	known  func(peer.ID) bool
	open   map[*Conn]struct{} // accepted sockets, until accept returns
	closed bool
	wg     sync.WaitGroup // calls of accept
}

// NewEndpoint returns the endpoint of a node with that key. Pass it to [NewHost]
// before dialing.
func NewEndpoint(key crypto.PrivKey) (*Endpoint, error) {
	identity, err := newIdentity(key)
	if err != nil {
		return nil, err
	}
	return &Endpoint{identity: identity, protocols: []string{alpn, alpnTLS}, open: map[*Conn]struct{}{}}, nil
}

// Handle sets the handler of incoming sockets. For each socket of a peer that
// known accepts, the endpoint calls accept in a new goroutine, and closes the socket when
// it returns. Other sockets, and all before the first call
// of Handle, are closed after the handshake.
func (e *Endpoint) Handle(known func(peer.ID) bool, accept func(from peer.ID, c *Conn)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known, e.accept = known, accept
}

// Close closes all accepted sockets and waits until their handlers have returned.
// Dialed sockets stay open.
func (e *Endpoint) Close() {
	e.mu.Lock()
	e.closed = true
	for c := range e.open {
		_ = c.Reset()
	}
	e.mu.Unlock()
	e.wg.Wait()
}

// Dial opens a socket to a peer at a TCP address. It fails if another peer answers.
// Only ctx bounds how long it blocks.
func (e *Endpoint) Dial(ctx context.Context, to peer.ID, addr ma.Multiaddr) (*Conn, error) {
	scope, err := e.reserve(to, addr)
	if err != nil {
		return nil, err
	}
	var d manet.Dialer
	raw, err := d.DialContext(ctx, addr)
	if err != nil {
		scope.Done()
		return nil, err
	}
	setOptions(raw)
	config, _ := e.config(to)
	c := &Conn{input: newRecordReader(raw, raw), raw: raw, scope: scope}
	c.SetUnsent(maxUnsent)
	if err := c.handshake(ctx, config, true); err != nil {
		_ = c.Reset()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return c, nil
}

// reserve counts a socket among the host's connections before it is dialed.
func (e *Endpoint) reserve(to peer.ID, addr ma.Multiaddr) (network.ConnManagementScope, error) {
	e.mu.Lock()
	rcmgr := e.rcmgr
	e.mu.Unlock()
	if rcmgr == nil {
		return nil, errors.New("bulk endpoint has no host")
	}
	scope, err := rcmgr.OpenConnection(network.DirOutbound, true, addr)
	if err != nil {
		return nil, err
	}
	if err := scope.SetPeer(to); err != nil {
		scope.Done()
		return nil, err
	}
	return scope, nil
}

// config returns the configuration of one handshake with a peer, or with any peer if
// id is empty. The channel receives the peer's key.
func (e *Endpoint) config(id peer.ID) (*tls.Config, <-chan crypto.PubKey) {
	config, key := e.identity.ConfigForPeer(id)
	config.NextProtos = e.protocols
	// Small first records make a web page appear sooner. Here they only cost.
	config.DynamicRecordSizingDisabled = true
	return config, key
}

// handshake authenticates an incoming socket and passes it to the handler. c reads
// the bytes of in.conn from the first.
func (e *Endpoint) handshake(c net.Conn, in incoming) {
	config, key := e.config("")
	socket := &Conn{input: newRecordReader(c, in.conn), raw: in.conn, scope: in.scope}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	if socket.handshake(ctx, config, false) != nil {
		_ = socket.Reset()
		return
	}
	from, err := peer.IDFromPublicKey(<-key) // sent by every handshake that succeeds
	if err != nil || in.scope.SetPeer(from) != nil || !e.handle(from, socket) {
		_ = socket.Reset()
	}
}

// handle starts the handler of an accepted socket, and reports whether there is one.
func (e *Endpoint) handle(from peer.ID, c *Conn) bool {
	e.mu.Lock()
	known, accept := e.known, e.accept
	e.mu.Unlock()
	if accept == nil || !known(from) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.open[c] = struct{}{}
	e.wg.Go(func() {
		accept(from, c)
		_ = c.Reset()
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.open, c)
	})
	return true
}
