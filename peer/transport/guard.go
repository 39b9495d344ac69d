package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

// A NotAdmittedError reports why one side of a connection rejected the other in a network.
type NotAdmittedError struct {
	Peer   peer.ID
	Remote bool // the peer rejected this node
	Reason string
}

// Error implements error. The text does not name the peer.
func (e *NotAdmittedError) Error() string {
	if e.Remote {
		return "the peer rejects this node: " + e.Reason
	}
	return "rejected: " + e.Reason
}

// needed returns the roles for a protocol. A peer that accepts such streams must have one of them.
func needed(id protocol.ID) membership.Roles {
	if id == proto.TrackerProtocol {
		return membership.Track
	}
	return membership.Seed | membership.Get
}

// guard returns a handler that passes streams of members to handle, and rejects other streams.
func (g *gate) guard(id protocol.ID, handle network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		c := s.Conn()
		ctx, cancel := context.WithTimeout(g.ctx, credentialTimeout)
		cert, err := g.wait(ctx, c, func(a *admitted) (settled, mayCome bool) {
			return true, a.asking || a.answering > 0
		})
		cancel()
		rejected := new(NotAdmittedError)
		switch {
		case err != nil && !errors.Is(err, errNoCertificate) && !errors.As(err, &rejected):
			// The exchange was late or interrupted, as on a busy machine. The peer tries again.
			_ = s.Reset()
			return
		case err != nil:
			err = errors.New("this node accepts only members of its network: give --network and --certificate")
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

// Certificate returns the peer's certificate: see [membership.Of].
func (s *memberStream) Certificate() *membership.Certificate { return s.certificate }

// logRejection reports whether an error is a rejection, and logs it then, repeated ones at level debug.
func (g *gate) logRejection(err error) bool {
	e, ok := errors.AsType[*NotAdmittedError](err)
	if !ok {
		return false
	}
	if e.Remote {
		g.member.SetRejection(e.Reason)
	}
	text := e.Error()
	g.log.Log(g.ctx, g.rejected.Level(e.Peer, text), "peer not admitted", "peer", e.Peer, "reason", text)
	return true
}

// Warnings remembers the warnings about each peer, since peers dial again. The zero value is ready for use,
// and safe for concurrent use.
type Warnings struct {
	mu   sync.Mutex
	seen map[peer.ID][]string
}

// maxWarnings bounds the peers that are remembered, and maxTexts the warnings about one, which may choose the texts.
const (
	maxWarnings = 1024
	maxTexts    = 8
)

// Level returns the level of a warning about a peer: debug if it is known, or if there were too many.
func (w *Warnings) Level(id peer.ID, text string) slog.Level {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[peer.ID][]string{}
	}
	seen, known := w.seen[id]
	if slices.Contains(seen, text) || len(seen) >= maxTexts || !known && len(w.seen) >= maxWarnings {
		return slog.LevelDebug
	}
	w.seen[id] = append(seen, text)
	return slog.LevelWarn
}
