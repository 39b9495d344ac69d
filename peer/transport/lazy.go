package transport

import (
	"context"
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
// It also closes the idle connections of strangers.
type lazyHost struct {
	host.Host
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
	h.once.Do(func() { close(h.stop) })
	h.idle.Wait()
	return h.Host.Close()
}

// closeTimeout bounds how long Close waits for the answer to the protocol's name.
const closeTimeout = 10 * time.Second

// Connect implements [host.Host]. Unlike libp2p's own it does not wait for identify.
func (h *lazyHost) Connect(ctx context.Context, info peer.AddrInfo) error {
	h.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	if h.Network().Connectedness(info.ID) == network.Connected {
		return nil
	}
	if _, err := h.Network().DialPeer(ctx, info.ID); err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	return nil
}

// NewStream implements [host.Host]. It leaves a choice of protocols to libp2p.
func (h *lazyHost) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if len(protocols) != 1 {
		return h.Host.NewStream(ctx, id, protocols...)
	}
	s, err := h.Network().NewStream(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	if err := s.SetProtocol(protocols[0]); err != nil {
		_ = s.Reset()
		return nil, err
	}
	return &lazyStream{Stream: s, lazy: msmux.NewMSSelect(s, protocols[0])}, nil
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
