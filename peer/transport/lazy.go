package transport

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	msmux "github.com/multiformats/go-multistream"
)

// lazyHost opens streams with lazy protocol negotiation, which saves the round trips
// in which libp2p's own host waits for identify and for the answer to the protocol's
// name. A peer that does not speak the protocol resets the stream, so the first read
// fails.
//
// It also closes the idle connections of strangers, and in a network lets only members use
// its streams.
type lazyHost struct {
	host.Host
	gate *gate // nil without a network
	stop chan struct{}
	idle sync.WaitGroup
	once sync.Once
}

func newLazyHost(h host.Host, l *limits) *lazyHost {
	lazy := &lazyHost{Host: h, stop: make(chan struct{})}
	lazy.idle.Go(func() {
		tick := time.NewTicker(idleCheck)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				l.closeIdle(h.Network().Conns())
			case <-lazy.stop:
				return
			}
		}
	})
	return lazy
}

// Close implements [host.Host].
func (h *lazyHost) Close() error {
	h.once.Do(func() {
		close(h.stop)
		if h.gate != nil {
			h.gate.close()
		}
	})
	h.idle.Wait()
	// Without connections the host does not wait for what it still says on them.
	return errors.Join(h.Network().Close(), h.Host.Close())
}

// closeTimeout bounds how long Close waits for the answer to the protocol's name.
const closeTimeout = 10 * time.Second

// Connect implements [host.Host]. Unlike libp2p's own it does not wait for identify.
func (h *lazyHost) Connect(ctx context.Context, info peer.AddrInfo) error {
	h.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	if h.Network().Connectedness(info.ID) == network.Connected {
		return nil
	}
	c, err := h.Network().DialPeer(ctx, info.ID)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	if h.gate != nil {
		_, err = h.gate.prove(ctx, c)
	}
	return err
}

// SetStreamHandler implements [host.Host].
func (h *lazyHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	if h.gate != nil {
		handle = h.gate.guard(id, handle)
	}
	h.Host.SetStreamHandler(id, handle)
}

// IsMember reports whether a connected peer may use the streams of a host that [NewHost] made:
// any without a network, else one whose certificate was accepted.
func IsMember(h host.Host, id peer.ID) bool {
	if lazy, ok := h.(*lazyHost); ok && lazy.gate != nil {
		return lazy.gate.isMember(id)
	}
	return h.Network().Connectedness(id) == network.Connected
}

// NewStream implements [host.Host]. It leaves a choice of protocols to libp2p.
func (h *lazyHost) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if len(protocols) != 1 && h.gate == nil {
		return h.Host.NewStream(ctx, id, protocols...)
	}
	if len(protocols) != 1 {
		return nil, errors.New("want one protocol in a network")
	}
	raw, err := h.Network().NewStream(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	s, err := newLazyStream(raw, protocols[0])
	if err == nil && h.gate != nil {
		return h.gate.open(ctx, s)
	}
	return s, err
}

// newLazyStream returns a stream with the protocol, or resets it.
func newLazyStream(s network.Stream, id protocol.ID) (network.Stream, error) {
	if err := s.SetProtocol(id); err != nil {
		_ = s.Reset()
		return nil, err
	}
	return &lazyStream{Stream: s, lazy: msmux.NewMSSelect(s, id)}, nil
}

// lazyStream sends the protocol's name with the first bytes written, and reads the
// answer to it before the first bytes read.
type lazyStream struct {
	network.Stream
	lazy msmux.LazyConn
}

func (s *lazyStream) Read(b []byte) (int, error) { return s.lazy.Read(b) }

func (s *lazyStream) Write(b []byte) (int, error) { return s.lazy.Write(b) }

// Close implements [network.Stream]. It waits for the answer to the protocol's name,
// at most closeTimeout.
func (s *lazyStream) Close() error {
	_ = s.SetReadDeadline(time.Now().Add(closeTimeout))
	return s.lazy.Close()
}

// CloseWrite implements [network.Stream].
func (s *lazyStream) CloseWrite() error {
	// This sends the name if nothing was written. If it fails, so does the first read.
	_ = s.lazy.Flush()
	return s.Stream.CloseWrite()
}
