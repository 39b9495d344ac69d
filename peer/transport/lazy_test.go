package transport

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// newListening returns a host that listens on loopback.
func newListening(t *testing.T) host.Host {
	t.Helper()
	key := newKey(t)
	h, err := NewHost(key, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// connectedPair returns a host that is connected to another, which echoes.
func connectedPair(t *testing.T) (from, to host.Host) {
	t.Helper()
	from, to = newListening(t), newListening(t)
	to.SetStreamHandler("/echo", func(s network.Stream) {
		_, _ = io.Copy(s, s)
		_ = s.Close()
	})
	if err := from.Connect(t.Context(), libpeer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		t.Fatal(err)
	}
	return from, to
}

func TestStreamEchoes(t *testing.T) {
	from, to := connectedPair(t)
	s, err := from.NewStream(t.Context(), to.ID(), "/echo")
	if err != nil {
		t.Fatal(err)
	}
	if s.Protocol() != "/echo" {
		t.Errorf("protocol %q", s.Protocol())
	}
	if _, err := s.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := s.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_ = s.SetReadDeadline(time.Now().Add(waitTimeout))
	if b, err := io.ReadAll(s); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A stream on which nothing is written must still send the protocol's name.
func TestCloseWriteOpensStream(t *testing.T) {
	from, to := connectedPair(t)
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
	case <-time.After(waitTimeout):
		t.Fatal("the handler was not called")
	}
}

func TestUnknownProtocolFailsFirstRead(t *testing.T) {
	from, to := connectedPair(t)
	s, err := from.NewStream(t.Context(), to.ID(), "/unknown")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	if _, err := s.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	_ = s.SetReadDeadline(time.Now().Add(waitTimeout))
	if _, err = s.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading: %v, want a reset", err)
	}
}

func TestNewStreamRespectsNoDial(t *testing.T) {
	from, to := newListening(t), newListening(t)
	from.Peerstore().AddAddrs(to.ID(), to.Addrs(), time.Hour)
	ctx := network.WithNoDial(context.Background(), "test")
	if s, err := from.NewStream(ctx, to.ID(), "/echo"); err == nil {
		_ = s.Reset()
		t.Error("NewStream dialed a peer")
	}
}
