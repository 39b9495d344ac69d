package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	libswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// dialTimeout bounds a dial with its handshakes.
const dialTimeout = 8 * time.Second

// dial opens a session with a member, and reports the end of that to the loop.
func (s *swarm) dial(id proto.PeerID) {
	info := libpeer.AddrInfo{ID: libpeer.ID(id), Addrs: transport.ParseAddrs(s.book.Addrs(id))}
	s.wg.Go(func() {
		select {
		case s.dialing <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		c, err := s.connect(info)
		<-s.dialing
		var refused *proto.RemoteError
		switch {
		case err == nil:
		case errors.As(err, &refused) && refused.Code == proto.CodeExcluded:
			s.excluded(info.ID, err)
		default:
			s.log.Debug("dial failed", "peer", info.ID, "error", err)
		}
		if err != nil {
			s.post(input{ev: mob.Unreachable{Peer: id}})
			return
		}
		s.post(input{joined: true, sess: c})
	})
}

// connect begins a session by each of the swarm's names, until the peer knows one. The
// first is the info-hash, if there is one: whoever has a link with both knows that too,
// as do those who have the torrent alone.
func (s *swarm) connect(info libpeer.AddrInfo) (c *session, err error) {
	for _, key := range slices.Backward(s.t.keys()) {
		c, err = s.connectAs(info, key.Bytes())
		var refused *proto.RemoteError
		if !errors.As(err, &refused) || refused.Code != proto.CodeUnknownSwarm {
			break
		}
	}
	return c, err
}

// connectAs opens a control stream and exchanges Hellos on it.
func (s *swarm) connectAs(info libpeer.AddrInfo, key []byte) (*session, error) {
	ctx, cancel := context.WithTimeout(s.ctx, dialTimeout)
	defer cancel()
	stream, err := s.node.open(ctx, info, proto.ControlProtocol)
	if err != nil {
		return nil, err
	}
	_ = stream.SetDeadline(time.Now().Add(handshakeTimeout))
	err = proto.WriteMessage(stream, s.hello(key))
	var hello *proto.Hello
	if err == nil {
		hello, err = readHello(stream)
	}
	if err == nil && !bytes.Equal(hello.Swarm, key) {
		err = errors.New("the peer speaks of another content")
	}
	if err == nil {
		err = s.form.RefusedBy(hello)
	}
	if err != nil {
		_ = stream.Reset()
		return nil, err
	}
	_ = stream.SetDeadline(time.Time{})
	return newNative(s, stream, hello, s.node.host.ID()), nil
}

// open connects to a peer and opens a stream, without the pause that libp2p
// makes after a failed dial: the callers have their own.
func (n *Node) open(ctx context.Context, info libpeer.AddrInfo, ids ...protocol.ID) (network.Stream, error) {
	if sw, ok := n.host.Network().(*libswarm.Swarm); ok {
		sw.Backoff().Clear(info.ID)
	}
	if err := n.host.Connect(ctx, info); err != nil {
		return nil, err
	}
	return n.host.NewStream(ctx, info.ID, ids...)
}

// maxExcluded bounds the peers for which a swarm remembers that they were excluded.
const maxExcluded = 1024

// excluded logs that a node cannot take part in the other's swarm, once for each peer: both
// sides dial again.
func (s *swarm) excluded(id libpeer.ID, why error) {
	s.excludes.Lock()
	defer s.excludes.Unlock()
	level := slog.LevelDebug
	if !s.excludes.logged[id] && len(s.excludes.logged) < maxExcluded {
		s.excludes.logged[id] = true
		level = slog.LevelWarn
	}
	s.log.Log(s.ctx, level, "peer excluded", "peer", id, "reason", why)
}

// hello is this node's greeting, with the name by which the peer knows the swarm.
func (s *swarm) hello(key []byte) *proto.Hello {
	return &proto.Hello{Swarm: key, Cluster: s.node.cfg.Cluster, Addrs: s.node.addrBytes(),
		Seed: s.st.Count() == s.m.Pieces(), Features: s.form.Coding.Features()}
}

func readHello(stream network.Stream) (*proto.Hello, error) {
	m, err := proto.ReadMessage(stream)
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *proto.Hello:
		return m, nil
	case *proto.Goodbye:
		return nil, &proto.RemoteError{Code: m.Code, Text: m.Text}
	}
	return nil, fmt.Errorf("expected a greeting, got message type %d", m.Type())
}

// acceptControl answers a control stream that a peer opened.
func (n *Node) acceptControl(stream network.Stream) {
	_ = stream.SetDeadline(time.Now().Add(handshakeTimeout))
	hello, err := readHello(stream)
	if err != nil {
		_ = stream.Reset()
		return
	}
	s := n.swarm(hello.Swarm)
	if s == nil {
		_ = proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the content is not here"})
		_ = stream.Close()
		return
	}
	if no := s.form.Refuse(hello); no != nil {
		s.excluded(stream.Conn().RemotePeer(), errors.New(no.Text))
		_ = proto.WriteMessage(stream, no)
		_ = stream.Close()
		return
	}
	if err := proto.WriteMessage(stream, s.hello(hello.Swarm)); err != nil {
		_ = stream.Reset()
		return
	}
	_ = stream.SetDeadline(time.Time{})
	s.post(input{joined: true, sess: newNative(s, stream, hello, stream.Conn().RemotePeer())})
}
