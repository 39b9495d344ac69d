package transport

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

// testMember is a host in a network.
type testMember struct {
	host.Host
	member *membership.Member
	clock  *atomic.Int64 // by how much its clock is ahead
}

// newTestMember starts a host. change, if not nil, changes its grant before it is signed.
func newTestMember(t testing.TB, secret *membership.Secret, change func(*membership.Certificate)) *testMember {
	t.Helper()
	key := newKey(t)
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c := membership.Certificate{
		Peer: id, Cluster: "geneva", Roles: membership.DefaultRoles, From: now.Add(-time.Hour), To: now.Add(24 * time.Hour),
	}
	if change != nil {
		change(&c)
	}
	grant, err := secret.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	clock := new(atomic.Int64)
	// Its own clock is within its own certificate: what counts here is what others think.
	start := c.From.Add(time.Minute).Sub(now)
	if c.From.Before(now) && c.To.After(now) {
		start = 0
	}
	clock.Store(int64(start))
	var log *slog.Logger
	if testing.Verbose() {
		log = slog.Default()
	}
	m, err := membership.New(membership.Config{
		Network: secret.ID(), Grant: grant, Self: c.Peer,
		Now: func() time.Time { return time.Now().Add(time.Duration(clock.Load())) }, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &testMember{h, m, clock}
}

func newTestSecret(t testing.TB) *membership.Secret {
	t.Helper()
	s, err := membership.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serveTest answers streams of a protocol with the cluster that the other side has proved.
func serveTest(h host.Host, id protocol.ID, served *atomic.Int64) {
	h.SetStreamHandler(id, func(s network.Stream) {
		defer s.Close()
		served.Add(1)
		// The name in the answer shows which certificate came with the stream.
		name := "open"
		if c := membership.Of(s); c != nil {
			name = c.Cluster
		}
		_, _ = io.ReadAll(s)
		_ = proto.WriteMessage(s, &proto.Goodbye{Text: name})
	})
}

// request opens a stream and returns the text that it is answered with.
func request(ctx context.Context, from host.Host, to host.Host, id protocol.ID) (string, error) {
	if err := from.Connect(ctx, peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		return "", err
	}
	return requestConnected(ctx, from, to.ID(), id)
}

func requestConnected(ctx context.Context, from host.Host, to peer.ID, id protocol.ID) (string, error) {
	s, err := from.NewStream(ctx, to, id)
	if err != nil {
		return "", err
	}
	defer s.Reset()
	if err := proto.WriteMessage(s, &proto.Goodbye{Text: "question"}); err != nil {
		return "", err
	}
	if err := s.CloseWrite(); err != nil {
		return "", err
	}
	m, err := proto.ReadMessage(s)
	if err != nil {
		return "", err
	}
	bye := m.(*proto.Goodbye)
	if bye.Code != 0 {
		return "", &proto.RemoteError{Code: bye.Code, Text: bye.Text}
	}
	return bye.Text, nil
}
