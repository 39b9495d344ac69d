package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

// ask opens a membership stream, and returns when the other side has closed it.
func (g *gate) ask(c network.Conn) error {
	err := g.askOnce(c)
	g.change(c, func(a *admitted) {
		a.asking, a.failed = false, err != nil
		if err != nil {
			a.err = err
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
		late := ctx.Err()
		_ = s.Reset()
		if late != nil {
			return fmt.Errorf("exchange credentials: %w", late)
		}
		g.logRejection(err)
		return err
	}
	return s.Close()
}

func (g *gate) askOn(s network.Stream, c network.Conn) error {
	grant, id := g.member.Grant(), c.RemotePeer()
	serial := g.member.Lists().Serial()
	if err := proto.WriteMessage(s, &proto.Credential{Envelope: grant.Pass.Envelope(), Serial: serial}); err != nil {
		return err
	}
	shown, err := readCredential(s, id)
	if err != nil {
		if rejected := new(NotAdmittedError); !errors.As(err, &rejected) && !c.IsClosed() && g.ctx.Err() == nil {
			// A node that does not know the protocol resets the stream.
			return &NotAdmittedError{Peer: id, Reason: "no certificate: does it run without --network?"}
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
	if g.logRejection(err) || err == nil {
		_ = s.Close()
		return
	}
	_ = s.Reset()
}

func (g *gate) answerOn(s network.Stream, c network.Conn) error {
	id := c.RemotePeer()
	reject := func(err error) error {
		_ = proto.WriteMessage(s, notAdmitted(err))
		return &NotAdmittedError{Peer: id, Reason: err.Error()}
	}
	shown, err := readCredential(s, id)
	if rejected := new(NotAdmittedError); errors.As(err, &rejected) {
		return errNoCertificate // a Goodbye that answers nothing: its text may be of a non-member
	}
	if err != nil {
		return err
	}
	if err := g.member.VerifyPass(shown.Envelope, id); err != nil {
		return reject(err)
	}
	own := &proto.Credential{Envelope: g.member.Grant().Certificate.Envelope(), Serial: g.member.Lists().Serial()}
	if err := proto.WriteMessage(s, own); err != nil {
		return err
	}
	if shown, err = readCredential(s, id); err != nil {
		return err
	}
	cert, err := g.member.Verify(shown.Envelope, id)
	if err != nil {
		return reject(err)
	}
	g.accept(c, cert)
	return g.exchangeLists(s, id, shown.Serial)
}

// exchangeLists sends lists of revoked members, and takes the other side's lists until that ends the
// stream. It sends the newest if the other side's newest is older. It always sends the older ones, since
// the serial does not show whether the other side has them. There are none unless two lists were made of
// which neither names all members of the other.
func (g *gate) exchangeLists(s network.Stream, from peer.ID, serial uint64) error {
	for i, l := range g.member.Lists() {
		if i == 0 && l.Serial <= serial {
			continue
		}
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
				g.log.Info("list of revoked members received", "peer", from, "members", len(g.member.Lists().Peers()))
			}
			if errors.Is(err, membership.ErrTooManyLists) {
				g.log.Warn("list of revoked members not adopted", "peer", from, "error", err)
			} else if err != nil {
				return err
			}
		case *proto.Goodbye:
			return &NotAdmittedError{Peer: from, Remote: true, Reason: m.Text}
		default:
			return fmt.Errorf("unexpected message type %d", proto.TypeOf(m))
		}
	}
}

// readCredential reads a Credential. It fails with a [*NotAdmittedError] if the peer rejects this node.
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
	return nil, fmt.Errorf("expected a Credential, got message type %d", proto.TypeOf(m))
}

func notAdmitted(err error) *proto.Goodbye {
	return &proto.Goodbye{Code: proto.CodeNoMember, Text: err.Error()}
}
