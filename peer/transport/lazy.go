package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/pstoremanager"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	msmux "github.com/multiformats/go-multistream"
)

// lazyHost opens streams with lazy protocol negotiation, which saves the round trips
// in which libp2p's own host waits for identify and for the answer to the protocol's
// name. A peer that does not speak the protocol resets the stream, so the first read
// fails.
//
// It also closes the idle connections of peers without a common swarm, and in a network lets
// only members use its streams.
type lazyHost struct {
	network *swarm.Swarm
	bus     event.Bus
	limits  *limits
	conns   protector
	mux     *msmux.MultistreamMuxer[protocol.ID]
	forgets *pstoremanager.PeerstoreManager // removes disconnected peers
	gate    *gate                           // nil without a network
	stop    chan struct{}
	idle    sync.WaitGroup
	once    sync.Once
	addrs   listenAddrs
}

// newLazyHost returns a host that owns its arguments. It closes them if it fails.
func newLazyHost(n *swarm.Swarm, bus event.Bus, l *limits, conns protector) (*lazyHost, error) {
	h := &lazyHost{
		network: n, bus: bus, limits: l, conns: conns,
		mux:  msmux.NewMultistreamMuxer[protocol.ID](),
		stop: make(chan struct{}),
	}
	forgets, err := pstoremanager.NewPeerstoreManager(n.Peerstore(), bus, n)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.forgets = forgets
	forgets.Start()
	n.Notify(conns.Notifee())
	n.SetStreamHandler(h.accept)
	h.idle.Go(func() {
		tick := time.NewTicker(idleCheck)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				l.closeIdle(n.Conns())
			case <-h.stop:
				return
			}
		}
	})
	return h, nil
}

func (h *lazyHost) Close() (err error) {
	h.once.Do(func() {
		close(h.stop)
		if h.gate != nil {
			h.gate.close()
		}
		h.idle.Wait()
		err = errors.Join(h.conns.Close(), h.network.Close())
		if h.forgets != nil {
			err = errors.Join(err, h.forgets.Close())
		}
		err = errors.Join(err, h.Peerstore().Close(), h.limits.Close())
	})
	return err
}

func (h *lazyHost) ID() peer.ID { return h.network.LocalPeer() }

func (h *lazyHost) Peerstore() peerstore.Peerstore { return h.network.Peerstore() }

func (h *lazyHost) Addrs() []ma.Multiaddr { return h.addrs.of(h.network) }

func (h *lazyHost) Network() network.Network { return h.network }

func (h *lazyHost) Mux() protocol.Switch { return h.mux }

func (h *lazyHost) ConnManager() connmgr.ConnManager { return h.conns }

func (h *lazyHost) EventBus() event.Bus { return h.bus }

// negotiationTimeout bounds the negotiation of a stream's protocol.
const negotiationTimeout = 10 * time.Second

// accept passes an incoming stream to the handler of its protocol.
func (h *lazyHost) accept(s network.Stream) {
	_ = s.SetDeadline(time.Now().Add(negotiationTimeout))
	id, handle, err := h.mux.Negotiate(s)
	if err != nil {
		_ = s.ResetWithError(network.StreamProtocolNegotiationFailed)
		return
	}
	_ = s.SetDeadline(time.Time{})
	if s.SetProtocol(id) != nil {
		_ = s.ResetWithError(network.StreamResourceLimitExceeded)
		return
	}
	_ = handle(id, s)
}

// closeTimeout bounds the time that Close waits for the answer to the protocol's name.
const closeTimeout = 10 * time.Second

// Connect implements [host.Host]. Unlike libp2p's own it does not wait for identify.
func (h *lazyHost) Connect(ctx context.Context, info peer.AddrInfo) error {
	h.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	if h.network.Connectedness(info.ID) == network.Connected {
		return nil
	}
	c, err := h.network.DialPeer(ctx, info.ID)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	if h.gate != nil {
		_, err = h.gate.prove(ctx, c)
	}
	return err
}

func (h *lazyHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.mux.AddHandler(id, h.handler(id, handle))
}

func (h *lazyHost) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	h.mux.AddHandlerWithFunc(id, match, h.handler(id, handle))
}

func (h *lazyHost) RemoveStreamHandler(id protocol.ID) { h.mux.RemoveHandler(id) }

// handler returns a handler of the muxer, which lets only members through in a network.
func (h *lazyHost) handler(id protocol.ID, handle network.StreamHandler) protocol.HandlerFunc {
	if h.gate != nil {
		handle = h.gate.guard(id, handle)
	}
	return func(_ protocol.ID, s io.ReadWriteCloser) error {
		handle(s.(network.Stream)) // which accept has negotiated
		return nil
	}
}

// IsMember reports whether a connected peer may use the streams of a host that [NewHost] made:
// any without a network, else one whose certificate was accepted.
func IsMember(h host.Host, id peer.ID) bool {
	if lazy, ok := h.(*lazyHost); ok && lazy.gate != nil {
		return lazy.gate.isMember(id)
	}
	return h.Network().Connectedness(id) == network.Connected
}

// errProtocols is the error of a stream with a choice of protocols.
var errProtocols = errors.New("want one protocol")

// NewStream implements [host.Host]. It takes one protocol.
func (h *lazyHost) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if len(protocols) != 1 {
		return nil, errProtocols
	}
	raw, err := h.network.NewStream(ctx, id)
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

func (s *lazyStream) CloseWrite() error {
	// This sends the name if nothing was written. If it fails, so does the first read.
	_ = s.lazy.Flush()
	return s.Stream.CloseWrite()
}
