package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

const (
	// credentialTimeout bounds a membership stream.
	credentialTimeout = 8 * time.Second
	// credentialCheck is the time between two looks at the certificates of all connections.
	credentialCheck = 5 * time.Second
	// maxRefreshes bounds the membership streams that pass on news at a time.
	maxRefreshes = 64
	// maxRefusals bounds the peers whose refusal is remembered, since they try again.
	maxRefusals = 1024
)

// gate lets only members of a network use the streams of a host. Before any other stream of a
// connection both sides exchange credentials on a membership stream:
//
//	opener                                 acceptor
//	  | -- Credential(pass) ----------------> |
//	  | <-- Credential(certificate), Goodbye  |
//	  | -- Credential(certificate) ---------> |
//	  | <-- Revoked (if it is newer) -------> |
type gate struct {
	host   host.Host
	member *membership.Member
	log    *slog.Logger
	ctx    context.Context // ends with the host
	cancel context.CancelFunc
	wg     sync.WaitGroup // of checks and refreshes
	news   chan struct{}  // holds a token if credentials or the list changed

	mu      sync.Mutex
	conns   map[network.Conn]*admitted
	refused map[peer.ID]string // what was logged
}

// admitted is what a gate knows of a connection.
type admitted struct {
	certificate *membership.Certificate // nil before it was accepted
	failed      bool                    // the last exchange that this side began: it begins another
	asking      bool                    // this side's membership stream is under way
	answering   int                     // as many of the other side are
	err         error                   // of the last that failed
	changed     chan struct{}           // closed, and replaced, with each change
}

// NotAdmittedError says why two sides of a connection do not talk to each other in a network.
type NotAdmittedError struct {
	Peer   peer.ID
	Remote bool // the peer refused this node
	Reason string
}

// Error implements error.
func (e *NotAdmittedError) Error() string {
	if e.Remote {
		return fmt.Sprintf("%s refuses this node: %s", e.Peer, e.Reason)
	}
	return fmt.Sprintf("%s is refused: %s", e.Peer, e.Reason)
}

func newGate(h host.Host, m *membership.Member, log *slog.Logger) *gate {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	g := &gate{
		host:    h,
		member:  m,
		log:     log,
		news:    make(chan struct{}, 1),
		conns:   map[network.Conn]*admitted{},
		refused: map[peer.ID]string{},
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

// run closes the connections of those who are members no more, and passes on news.
func (g *gate) run() {
	tick := time.NewTicker(credentialCheck)
	defer tick.Stop()
	var problem bool
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.news:
			g.closeRefused()
			g.refresh()
		case <-tick.C:
			if err := g.member.Renew(); err != nil {
				g.log.Error("certificate not renewed", "error", err)
			}
			g.closeRefused()
		}
		err := g.member.Problem()
		if err != nil && !problem {
			g.log.Error("other nodes refuse this one", "reason", err)
		}
		problem = err != nil
	}
}

// closeRefused closes the connections to peers whose certificate is not valid any more.
func (g *gate) closeRefused() {
	g.mu.Lock()
	refused := map[network.Conn]error{}
	for c, a := range g.conns {
		if a.certificate == nil {
			continue
		}
		if err := g.member.Check(a.certificate); err != nil {
			a.certificate = nil
			refused[c] = err
		}
	}
	g.mu.Unlock()
	for c, err := range refused {
		g.logRefusal(&NotAdmittedError{Peer: c.RemotePeer(), Reason: err.Error()})
		_ = c.Close()
	}
}

// refresh shows all connected members what changed.
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
			select {
			case slots <- struct{}{}:
			case <-g.ctx.Done():
				return
			}
			g.wg.Go(func() {
				defer func() { <-slots }()
				if err := g.ask(c); err != nil {
					g.log.Debug("news not passed on", "peer", c.RemotePeer(), "error", err)
				}
			})
		}
	})
}

// of returns what is known of a connection. The caller holds the lock.
func (g *gate) of(c network.Conn) *admitted {
	a := g.conns[c]
	if a == nil {
		a = &admitted{changed: make(chan struct{})}
		if !c.IsClosed() { // else it is not forgotten
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

// change changes what is known of a connection, and wakes who waits for it.
func (g *gate) change(c network.Conn, f func(*admitted)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.of(c)
	f(a)
	close(a.changed)
	a.changed = make(chan struct{})
}

// accept notes the certificate of the other side of a connection.
func (g *gate) accept(c network.Conn, cert *membership.Certificate) {
	g.change(c, func(a *admitted) { a.certificate, a.err = cert, nil })
	g.member.Refused("")
}

// certificate returns that of the other side of a connection, nil before it was accepted.
func (g *gate) certificate(c network.Conn) *membership.Certificate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.conns[c]; a != nil {
		return a.certificate
	}
	return nil
}

// isMember reports whether a peer has a connection with a certificate.
func (g *gate) isMember(id peer.ID) bool {
	for _, c := range g.host.Network().ConnsToPeer(id) {
		if g.certificate(c) != nil {
			return true
		}
	}
	return false
}

// prove exchanges credentials on a connection unless that was done, and returns the
// certificate of the other side.
func (g *gate) prove(ctx context.Context, c network.Conn) (*membership.Certificate, error) {
	g.mu.Lock()
	if a := g.of(c); (a.certificate == nil || a.failed) && !a.asking && g.ctx.Err() == nil {
		a.asking, a.failed, a.err = true, false, nil
		g.wg.Go(func() { _ = g.ask(c) })
	}
	g.mu.Unlock()
	return g.wait(ctx, c, func(a *admitted) bool { return a.asking })
}

// wait waits for the certificate of the other side, as long as one may come.
func (g *gate) wait(
	ctx context.Context, c network.Conn, mayCome func(*admitted) bool,
) (*membership.Certificate, error) {
	for {
		g.mu.Lock()
		a := g.of(c)
		cert, err, more, changed := a.certificate, a.err, mayCome(a), a.changed
		g.mu.Unlock()
		switch {
		case cert != nil:
			return cert, nil
		case more:
		case err != nil:
			return nil, err
		default:
			return nil, errors.New("no certificate was shown")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ask opens a membership stream, and returns when the other side has closed it.
func (g *gate) ask(c network.Conn) error {
	err := g.askOnce(c)
	g.change(c, func(a *admitted) {
		a.asking = false
		if err != nil {
			a.failed, a.err = true, err
		}
	})
	return err
}

func (g *gate) askOnce(c network.Conn) error {
	ctx, cancel := context.WithTimeout(g.ctx, credentialTimeout)
	defer cancel()
	raw, err := c.NewStream(ctx)
	if err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	s, err := newLazyStream(raw, proto.MemberProtocol)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	if err := g.askOn(s, c); err != nil {
		_ = s.Reset()
		if refused := new(NotAdmittedError); errors.As(err, &refused) {
			g.logRefusal(refused)
		}
		return err
	}
	return s.Close()
}

func (g *gate) askOn(s network.Stream, c network.Conn) error {
	grant, id := g.member.Grant(), c.RemotePeer()
	serial := g.member.Serial()
	if err := proto.WriteMessage(s, &proto.Credential{Envelope: grant.Pass.Envelope(), Serial: serial}); err != nil {
		return err
	}
	shown, err := readCredential(s, id)
	if err != nil {
		if refused := new(NotAdmittedError); !errors.As(err, &refused) && !c.IsClosed() && g.ctx.Err() == nil {
			// A node that does not know the protocol resets the stream.
			return &NotAdmittedError{Peer: id, Reason: "it shows no certificate: does it run without --network?"}
		}
		return err
	}
	cert, err := g.member.Verify(shown.Envelope, id)
	if err != nil {
		_ = proto.WriteMessage(s, notAdmitted(err))
		_ = s.CloseWrite()
		return &NotAdmittedError{Peer: id, Reason: err.Error()}
	}
	err = proto.WriteMessage(s, &proto.Credential{Envelope: grant.Certificate.Envelope(), Serial: serial})
	if err != nil {
		return err
	}
	g.accept(c, cert)
	return g.exchangeLists(s, id, shown.Serial)
}

// answer answers a membership stream.
func (g *gate) answer(s network.Stream) {
	c := s.Conn()
	g.change(c, func(a *admitted) { a.answering++ })
	_ = s.SetDeadline(time.Now().Add(credentialTimeout))
	err := g.answerOn(s, c)
	g.change(c, func(a *admitted) {
		a.answering--
		if err != nil {
			a.err = err
		}
	})
	if err != nil {
		if refused := new(NotAdmittedError); errors.As(err, &refused) {
			g.logRefusal(refused)
			_ = s.Close()
			return
		}
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

func (g *gate) answerOn(s network.Stream, c network.Conn) error {
	id := c.RemotePeer()
	refuse := func(err error) error {
		_ = proto.WriteMessage(s, notAdmitted(err))
		return &NotAdmittedError{Peer: id, Reason: err.Error()}
	}
	shown, err := readCredential(s, id)
	if err != nil {
		return err
	}
	if err := g.member.VerifyPass(shown.Envelope, id); err != nil {
		return refuse(err)
	}
	own := &proto.Credential{Envelope: g.member.Grant().Certificate.Envelope(), Serial: g.member.Serial()}
	if err := proto.WriteMessage(s, own); err != nil {
		return err
	}
	if shown, err = readCredential(s, id); err != nil {
		return err
	}
	cert, err := g.member.Verify(shown.Envelope, id)
	if err != nil {
		return refuse(err)
	}
	g.accept(c, cert)
	return g.exchangeLists(s, id, shown.Serial)
}

// exchangeLists passes on the list of revoked members if the other side has an older one, or
// takes its list, until it ends the stream.
func (g *gate) exchangeLists(s network.Stream, from peer.ID, serial uint64) error {
	if l := g.member.List(); l != nil && l.Serial > serial {
		if err := proto.WriteMessage(s, &proto.Revoked{List: l.Envelope()}); err != nil {
			return err
		}
	}
	if err := s.CloseWrite(); err != nil {
		return err
	}
	for {
		m, err := proto.ReadMessage(s)
		switch m := m.(type) {
		case nil:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		case *proto.Revoked:
			newer, err := g.member.AdoptEnvelope(m.List)
			if newer {
				g.log.Info("list of revoked members received", "peer", from, "members", len(g.member.List().Peers))
			}
			if err != nil {
				return err
			}
		case *proto.Goodbye:
			return &NotAdmittedError{Peer: from, Remote: true, Reason: m.Text}
		default:
			return fmt.Errorf("unexpected message type %d", m.Type())
		}
	}
}

// readCredential reads a Credential. It fails with a [*NotAdmittedError] if the peer refuses.
func readCredential(s network.Stream, from peer.ID) (*proto.Credential, error) {
	m, err := proto.ReadOpening(s)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *proto.Credential:
		return m, nil
	case *proto.Goodbye:
		return nil, &NotAdmittedError{Peer: from, Remote: true, Reason: m.Text}
	}
	return nil, fmt.Errorf("expected a Credential, got message type %d", m.Type())
}

// notAdmitted is what a peer is told that is refused.
func notAdmitted(err error) *proto.Goodbye {
	return &proto.Goodbye{Code: proto.CodeNoMember, Text: err.Error()}
}

// needed returns the roles of which the peer must have one that is asked for a stream of a
// protocol.
func needed(id protocol.ID) membership.Roles {
	if id == proto.TrackerProtocol {
		return membership.Track
	}
	return membership.Seed | membership.Get
}

// guard returns a handler that hands streams of members to handle, and refuses others.
func (g *gate) guard(id protocol.ID, handle network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		c := s.Conn()
		ctx, cancel := context.WithTimeout(g.ctx, credentialTimeout)
		cert, err := g.wait(ctx, c, func(a *admitted) bool { return a.asking || a.answering > 0 })
		cancel()
		switch {
		case err != nil:
			err = errors.New("this node talks to members of its network only: give --network and --certificate")
		case id != proto.TrackerProtocol && !cert.Roles.Has(needed(id)):
			err = fmt.Errorf("a certificate with the roles %s is not for nodes", cert.Roles)
		default:
			handle(&memberStream{s, cert})
			return
		}
		if id == proto.BulkProtocol {
			_ = s.Reset()
			return
		}
		_ = s.SetDeadline(time.Now().Add(credentialTimeout))
		_ = proto.WriteMessage(s, notAdmitted(err))
		_ = s.Close()
	}
}

// open exchanges credentials before the first byte of a stream that this node opened.
func (g *gate) open(ctx context.Context, s network.Stream) (network.Stream, error) {
	cert, err := g.prove(ctx, s.Conn())
	if err == nil && !cert.Roles.Has(needed(s.Protocol())) {
		err = &NotAdmittedError{Peer: s.Conn().RemotePeer(), Reason: fmt.Sprintf("its certificate has the roles %s", cert.Roles)}
	}
	if err != nil {
		_ = s.Reset()
		return nil, err
	}
	return &memberStream{s, cert}, nil
}

// memberStream is a stream to a member.
type memberStream struct {
	network.Stream
	certificate *membership.Certificate
}

// Certificate returns that of the other side: see [membership.Of].
func (s *memberStream) Certificate() *membership.Certificate { return s.certificate }

// logRefusal logs a refusal, each once.
func (g *gate) logRefusal(e *NotAdmittedError) {
	g.mu.Lock()
	if e.Remote {
		g.member.Refused(e.Reason)
	}
	level := slog.LevelDebug
	text := e.Error()
	if g.refused[e.Peer] != text && (g.refused[e.Peer] != "" || len(g.refused) < maxRefusals) {
		g.refused[e.Peer] = text
		level = slog.LevelWarn
	}
	g.mu.Unlock()
	g.log.Log(g.ctx, level, "peer not admitted", "peer", e.Peer, "reason", text)
}
