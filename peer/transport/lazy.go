package transport

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	msmux "github.com/multiformats/go-multistream"
)

// lazyHost opens streams without the round trips in which libp2p's own host waits
// to be told what the other side speaks: it says which protocol it means, and goes
// on with it. Who does not speak it resets the stream, which the first read tells.
type lazyHost struct{ host.Host }

// answerTimeout is how long Close waits to be told that the protocol is spoken.
const answerTimeout = 10 * time.Second

// Connect implements [host.Host].
func (h lazyHost) Connect(ctx context.Context, info libpeer.AddrInfo) error {
	h.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	if h.Network().Connectedness(info.ID) == network.Connected {
		return nil
	}
	if _, err := h.Network().DialPeer(ctx, info.ID); err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	return nil
}

// NewStream implements [host.Host]. A choice of protocols is left to libp2p.
func (h lazyHost) NewStream(ctx context.Context, id libpeer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if len(protocols) != 1 {
		return h.Host.NewStream(ctx, id, protocols...)
	}
	s, err := h.Network().NewStream(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("open a stream: %w", err)
	}
	if err := s.SetProtocol(protocols[0]); err != nil {
		_ = s.Reset()
		return nil, err
	}
	return &lazyStream{Stream: s, lazy: msmux.NewMSSelect(s, protocols[0])}, nil
}

// lazyStream sends the name of its protocol with the first bytes, and reads the
// answer to it before the first that it is asked for.
type lazyStream struct {
	network.Stream
	lazy msmux.LazyConn
}

func (s *lazyStream) Read(b []byte) (int, error) { return s.lazy.Read(b) }

func (s *lazyStream) Write(b []byte) (int, error) { return s.lazy.Write(b) }

// Close implements [network.Stream]. It waits for the answer to the name, though
// not for long.
func (s *lazyStream) Close() error {
	_ = s.SetReadDeadline(time.Now().Add(answerTimeout))
	return s.lazy.Close()
}

// CloseWrite implements [network.Stream].
func (s *lazyStream) CloseWrite() error {
	// If nothing was written, the name goes out now. A failure shows in the read.
	_ = s.lazy.Flush()
	return s.Stream.CloseWrite()
}
