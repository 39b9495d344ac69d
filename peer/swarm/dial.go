package swarm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

const (
	// dialTimeout bounds a dial with its handshakes. A session that fell silent is older.
	dialTimeout = 10 * time.Second
	// slowDial is the longest time in which a dial keeps another one from starting: the member may not answer at all.
	slowDial = 2 * time.Second
)

// dial opens a session with a member in the background, and reports the result to the loop. It does
// not use a connection from before the time dead.
func (s *Swarm) dial(id proto.PeerID, dead time.Time) {
	info := libpeer.AddrInfo{ID: libpeer.ID(id), Addrs: transport.ParseAddrs(s.addrs.of(id))}
	s.wg.Go(func() {
		select {
		case s.dials <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		release := sync.OnceFunc(func() { <-s.dials })
		defer release()
		time.AfterFunc(slowDial, release)
		if s.session(id) != nil { // it has joined since
			return
		}
		transport.CloseOld(s.cfg.Host, info.ID, dead)
		c, err := s.connect(info)
		if err == nil {
			s.join(c)
			return
		}
		s.noteRejection(err)
		if proto.CodeOf(err) == proto.CodeExcluded {
			s.logExclusion(info.ID, err)
		} else {
			s.log.Debug("dial failed", "peer", info.ID, "error", err)
		}
		s.post(func() { s.onUnreachable(id, err) })
	})
}

// connect opens a session with a node, and blocks until the node has answered. It tries the
// content's ids until the node knows one. The info-hash is first, if there is one: all nodes with
// the torrent know it.
func (s *Swarm) connect(info libpeer.AddrInfo) (c *session, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, dialTimeout)
	defer cancel()
	for _, key := range slices.Backward(s.cfg.Link.Keys()) {
		c, err = s.connectAs(ctx, info, key.Bytes())
		if proto.CodeOf(err) != proto.CodeUnknownSwarm {
			break
		}
	}
	return c, err
}

func (s *Swarm) connectAs(ctx context.Context, info libpeer.AddrInfo, key []byte) (*session, error) {
	stream, err := transport.OpenStream(ctx, s.cfg.Host, info, proto.ControlProtocol)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	_ = stream.SetDeadline(deadline)
	// A node leaves a swarm immediately, even if peers do not answer.
	defer context.AfterFunc(ctx, func() { _ = stream.Reset() })()
	err = proto.WriteMessage(stream, s.hello(key))
	var hello *proto.Hello
	if err == nil {
		hello, err = ReadHello(stream)
	}
	if err == nil && !bytes.Equal(hello.Swarm, key) {
		err = errors.New("peer answered for another swarm")
	}
	if err == nil {
		if no := s.rejection(hello, membership.Of(stream)); no != nil {
			err = errors.New(no.Text)
		}
	}
	if err != nil {
		_ = stream.Reset()
		return nil, err
	}
	_ = stream.SetDeadline(time.Time{})
	return newNodePeer(s, stream, hello, s.self), nil
}

// Accept replies to the Hello of a peer that opened a control stream. The stream is the swarm's
// from then on.
func (s *Swarm) Accept(stream network.Stream, hello *proto.Hello) {
	if no := s.rejection(hello, membership.Of(stream)); no != nil {
		s.logExclusion(stream.Conn().RemotePeer(), errors.New(no.Text))
		_ = proto.WriteMessage(stream, no)
		_ = stream.Close()
		return
	}
	if err := proto.WriteMessage(stream, s.hello(hello.Swarm)); err != nil {
		_ = stream.Reset()
		return
	}
	_ = stream.SetDeadline(time.Time{})
	s.join(newNodePeer(s, stream, hello, proto.PeerID(stream.Conn().RemotePeer())))
}

func (s *Swarm) hello(key []byte) *proto.Hello {
	_, unreadable, _ := s.OutOfService()
	features := s.coding.Features() | proto.FeatureDemand
	if s.cfg.Plan != nil {
		features |= proto.FeatureHosts
	}
	return &proto.Hello{
		Swarm:    key,
		Cluster:  s.cfg.Cluster,
		Addrs:    s.cfg.Addrs(),
		Seed:     s.st.Count() == s.m.Pieces() && !s.cfg.Verifier.Growing() && unreadable == 0,
		Features: features,
	}
}

// HandshakeTimeout bounds the wait for the first message of a stream that a peer opened.
const HandshakeTimeout = 10 * time.Second

// ReadHello reads the first message of a control stream. It fails with
// [*proto.RemoteError] if the peer rejects the session.
func ReadHello(stream network.Stream) (*proto.Hello, error) {
	m, err := proto.ReadOpening(stream)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *proto.Hello:
		return m, nil
	case *proto.Goodbye:
		return nil, (*proto.RemoteError)(m)
	}
	return nil, fmt.Errorf("expected a Hello, got message type %d", proto.TypeOf(m))
}

// noteRejection records for the status that this node and a peer do not admit each other.
func (s *Swarm) noteRejection(err error) {
	if rejected, ok := errors.AsType[*transport.NotAdmittedError](err); ok {
		s.notAdmitted.Store(rejected)
	}
}

func (s *Swarm) logExclusion(id libpeer.ID, why error) {
	s.log.Log(s.ctx, s.warnings.Level(id, "excluded"), "peer excluded", "peer", id, "reason", why)
}
