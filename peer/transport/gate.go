package transport

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

const (
	// credentialTimeout bounds a membership stream.
	credentialTimeout = 8 * time.Second
	// credentialCheck is the interval of checks of the certificates of all connections.
	credentialCheck = 5 * time.Second
	// maxRefreshes bounds the membership streams that send changes at a time.
	maxRefreshes = 64
)

// gate lets only members of a network use the streams of a host. Before any other stream of a
// connection both sides exchange credentials on a membership stream:
//
//	opener                                 acceptor
//	  | -- Credential(pass) ----------------> |
//	  | <-- Credential(certificate), Goodbye  |
//	  | -- Credential(certificate) ---------> |
//	  | <-- Revoked, of each list ----------> |
type gate struct {
	host   host.Host
	member *membership.Member
	log    *slog.Logger
	ctx    context.Context // ends with the host
	cancel context.CancelFunc
	wg     sync.WaitGroup // of checks and refreshes
	news   chan struct{}  // holds a token if credentials or lists changed

	rejected Warnings

	mu    sync.Mutex
	conns map[network.Conn]*admitted
}

// admitted is the state of a connection at a gate.
type admitted struct {
	certificate *membership.Certificate // nil before it was accepted
	failed      bool                    // the last exchange of this side failed: the peer may not have its certificate
	asking      bool                    // this side's membership stream is open
	answering   int                     // open membership streams of the peer
	err         error                   // of the last failed exchange
	changed     chan struct{}           // closed, and replaced, with each change
}

func newGate(h host.Host, m *membership.Member) *gate {
	g := &gate{
		host:   h,
		member: m,
		log:    m.Log(),
		news:   make(chan struct{}, 1),
		conns:  map[network.Conn]*admitted{},
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	h.Network().Notify(&network.NotifyBundle{DisconnectedF: func(_ network.Network, c network.Conn) { g.forget(c) }})
	h.SetStreamHandler(proto.MemberProtocol, g.answer)
	m.OnChange(func() {
		select {
		case g.news <- struct{}{}:
		default:
		}
	})
	g.wg.Go(g.run)
	return g
}

func (g *gate) close() {
	g.mu.Lock()
	g.cancel()
	g.mu.Unlock()
	g.wg.Wait()
}

// run closes the connections of former members, and sends changes.
func (g *gate) run() {
	tick := time.NewTicker(credentialCheck)
	defer tick.Stop()
	var problem bool
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.news:
			g.closeRejected()
			g.refresh()
		case <-tick.C:
			if err := g.member.Renew(); err != nil {
				g.log.Error("certificate not renewed", "error", err)
			}
			g.closeRejected()
		}
		err := g.member.Problem()
		if err != nil && !problem {
			g.log.Error("other nodes reject this one", "reason", err)
		}
		problem = err != nil
	}
}

// closeRejected closes the connections to peers whose certificate is no longer valid.
func (g *gate) closeRejected() {
	g.mu.Lock()
	rejected := map[network.Conn]error{}
	for c, a := range g.conns {
		if a.certificate == nil {
			continue
		}
		if err := g.member.Check(a.certificate); err != nil {
			a.certificate = nil
			rejected[c] = err
		}
	}
	g.mu.Unlock()
	for c, err := range rejected {
		g.logRejection(&NotAdmittedError{Peer: c.RemotePeer(), Reason: err.Error()})
		_ = c.Close()
	}
}

// refresh sends the changes to all connected members.
func (g *gate) refresh() {
	g.mu.Lock()
	var conns []network.Conn
	for c, a := range g.conns {
		if a.certificate != nil {
			conns = append(conns, c)
		}
	}
	g.mu.Unlock()
	slots := make(chan struct{}, maxRefreshes)
	g.wg.Go(func() {
		for _, c := range conns {
			slots <- struct{}{} // each stream ends with the host
			g.wg.Go(func() {
				defer func() { <-slots }()
				if err := g.ask(c); err != nil {
					g.log.Debug("credentials not sent", "peer", c.RemotePeer(), "error", err)
				}
			})
		}
	})
}

// of returns the state of a connection. The caller holds the lock.
func (g *gate) of(c network.Conn) *admitted {
	a := g.conns[c]
	if a == nil {
		a = &admitted{changed: make(chan struct{})}
		if !c.IsClosed() { // else forget was called already
			g.conns[c] = a
		}
	}
	return a
}

func (g *gate) forget(c network.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
}

// change changes the state of a connection, and wakes waiting goroutines.
func (g *gate) change(c network.Conn, f func(*admitted)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.of(c)
	f(a)
	close(a.changed)
	a.changed = make(chan struct{})
}

// accept records the certificate of the peer of a connection.
func (g *gate) accept(c network.Conn, cert *membership.Certificate) {
	g.change(c, func(a *admitted) { a.certificate, a.err = cert, nil })
	g.member.SetRejection("")
}

// certificate returns the peer's certificate of a connection, nil before it was accepted.
func (g *gate) certificate(c network.Conn) *membership.Certificate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.conns[c]; a != nil {
		return a.certificate
	}
	return nil
}

func (g *gate) isMember(id peer.ID) bool {
	return slices.ContainsFunc(g.host.Network().ConnsToPeer(id), func(c network.Conn) bool { return g.certificate(c) != nil })
}

// prove exchanges credentials on a connection unless that was done, and returns the
// certificate of the other side. After a failed exchange it waits for the end of another, since
// the peer may not have received this node's certificate.
func (g *gate) prove(ctx context.Context, c network.Conn) (*membership.Certificate, error) {
	g.mu.Lock()
	if a := g.of(c); (a.certificate == nil || a.failed) && !a.asking && g.ctx.Err() == nil {
		a.asking, a.err = true, nil
		g.wg.Go(func() { _ = g.ask(c) })
	}
	g.mu.Unlock()
	return g.wait(ctx, c, func(a *admitted) (settled, mayCome bool) {
		return !a.failed || !a.asking, a.asking
	})
}

// errNoCertificate is the error of a connection without an exchange.
var errNoCertificate = errors.New("no certificate was exchanged")

// wait waits for the peer's certificate until it is settled, while it may come.
func (g *gate) wait(
	ctx context.Context, c network.Conn, state func(*admitted) (settled, mayCome bool),
) (*membership.Certificate, error) {
	for {
		g.mu.Lock()
		a := g.of(c)
		cert, err, changed := a.certificate, a.err, a.changed
		settled, mayCome := state(a)
		g.mu.Unlock()
		switch {
		case cert != nil && settled:
			return cert, nil
		case mayCome:
		case err != nil:
			return nil, err
		default:
			return nil, errNoCertificate
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
