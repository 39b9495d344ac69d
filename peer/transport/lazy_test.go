package transport

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

func listening(t *testing.T) host.Host {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// pair is a host that knows another's address, which answers echoes.
func pair(t *testing.T) (from, to host.Host) {
	t.Helper()
	from, to = listening(t), listening(t)
	to.SetStreamHandler("/echo", func(s network.Stream) {
		_, _ = io.Copy(s, s)
		_ = s.Close()
	})
	if err := from.Connect(t.Context(), libpeer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		t.Fatal(err)
	}
	return from, to
}

func TestStreamCarriesBothWays(t *testing.T) {
	from, to := pair(t)
	s, err := from.NewStream(t.Context(), to.ID(), "/echo")
	if err != nil {
		t.Fatal(err)
	}
	if s.Protocol() != "/echo" {
		t.Errorf("protocol %q", s.Protocol())
	}
	if _, err := s.Write([]byte("heard")); err != nil {
		t.Fatal(err)
	}
	if err := s.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(s); err != nil || string(b) != "heard" {
		t.Errorf("%q, %v", b, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Who only listens has to send the protocol's name all the same.
func TestStreamThatWritesNothingIsOpened(t *testing.T) {
	from, to := pair(t)
	opened := make(chan struct{})
	to.SetStreamHandler("/greets", func(s network.Stream) {
		close(opened)
		_ = s.Close()
	})
	s, err := from.NewStream(t.Context(), to.ID(), "/greets")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	if err := s.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-opened:
	case <-time.After(10 * time.Second):
		t.Fatal("the other side never heard of it")
	}
}

func TestProtocolThatIsNotSpokenFailsTheFirstRead(t *testing.T) {
	from, to := pair(t)
	s, err := from.NewStream(t.Context(), to.ID(), "/unknown")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	if _, err := s.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Read(make([]byte, 1)); err == nil {
		t.Error("a protocol that nobody speaks gave an answer")
	}
}

// A stream must not dial behind the back of who asks for none.
func TestStreamKeepsFromDialling(t *testing.T) {
	from, to := listening(t), listening(t)
	from.Peerstore().AddAddrs(to.ID(), to.Addrs(), time.Hour)
	ctx := network.WithNoDial(context.Background(), "test")
	if s, err := from.NewStream(ctx, to.ID(), "/echo"); err == nil {
		_ = s.Reset()
		t.Error("a stream to a peer that is not connected")
	}
}
