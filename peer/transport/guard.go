package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

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
		cert, err := g.wait(ctx, c, func(a *admitted) (settled, mayCome bool) {
			return true, a.asking || a.answering > 0
		})
		cancel()
		refused := new(NotAdmittedError)
		switch {
		case err != nil && !errors.Is(err, errNoCertificate) && !errors.As(err, &refused):
			// The exchange was late or cut off, as on a busy machine. That says nothing of the peer, which
			// tries again.
			_ = s.Reset()
			return
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
		g.member.SetRejection(e.Reason)
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
