package transport

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/rate"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	// maxConns bounds the connections of a host: far above any cluster's size,
	// low enough that a flood does not exhaust descriptors.
	maxConns = 8192
	// yamuxMessage is the most payload in one frame of the muxer: larger frames
	// mean fewer hand-offs between its goroutines.
	yamuxMessage = 1 << 20
	// yamuxWindow is what a stream may send before the first window update. A
	// receiver asks for what it wants, so the window need not brake.
	yamuxWindow = 16 << 20
)

// NewHost returns a libp2p host for a node or a tracker: TLS 1.3 and yamux over TCP,
// listening on every one of the addresses. With a bulk endpoint, which must have the
// same key, the host's port accepts bulk sockets too.
//
// The host lifts libp2p's limits per IP address, 8 connections and a new one every
// 5 s, which a site behind one gateway exceeds. It opens streams without waiting for
// protocol negotiation: the first read fails if the peer does not speak the protocol.
func NewHost(key crypto.PrivKey, listen []ma.Multiaddr, bulk *Endpoint) (host.Host, error) {
	// With a shared port a second daemon would start beside the first, each with its
	// own identity and half of the connections.
	tcpTransport := libp2p.Transport(tcp.NewTCPTransport, tcp.DisableReuseport())
	if bulk != nil {
		tcpTransport = libp2p.Transport(bulk.transport)
	}
	rm, err := newResources()
	if err != nil {
		return nil, fmt.Errorf("resource manager: %w", err)
	}
	cm, err := connmgr.NewConnManager(maxConns*3/4, maxConns, connmgr.WithGracePeriod(time.Minute))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connection manager: %w", err), rm.Close())
	}
	h, err := libp2p.New(
		libp2p.Identity(key),
		libp2p.NoListenAddrs,
		tcpTransport,
		libp2p.Security(libp2ptls.ID, libp2ptls.New),
		libp2p.Muxer(yamux.ID, muxer()),
		libp2p.ResourceManager(rm),
		libp2p.ConnectionManager(cm),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		// Others are not to be asked how they see this host: it is told where it
		// listens.
		libp2p.ForceReachabilityPublic(),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.UserAgent("mob"),
	)
	if err != nil {
		return nil, errors.Join(err, cm.Close(), rm.Close())
	}
	// By itself libp2p is content with one address that works.
	for _, a := range listen {
		if err := h.Network().Listen(a); err != nil {
			return nil, errors.Join(listenError(a, err), h.Close())
		}
	}
	return lazyHost{h}, nil
}

func listenError(a ma.Multiaddr, err error) error {
	// libp2p keeps the text of the cause and drops the cause.
	if strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
		return fmt.Errorf("%s is in use by another program: choose another --listen, or port 0 for any that is free", a)
	}
	return fmt.Errorf("cannot listen at %s: %w", a, err)
}

// newResources bounds the host as a whole and nothing by address. Streams and
// their windows are not bounded: a peer gets no more of them than it is asked for.
func newResources() (network.ResourceManager, error) {
	limits := rcmgr.PartialLimitConfig{System: rcmgr.ResourceLimits{
		Conns: maxConns, ConnsInbound: maxConns, ConnsOutbound: maxConns, FD: maxConns,
	}}
	return rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(limits.Build(rcmgr.InfiniteLimits)),
		rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{}, []rcmgr.ConnLimitPerSubnet{}),
		rcmgr.WithConnRateLimiters(&rate.Limiter{}),
		rcmgr.WithMetricsDisabled(),
	)
}

func muxer() *yamux.Transport {
	c := *yamux.DefaultTransport.Config()
	c.MaxMessageSize = yamuxMessage
	c.InitialStreamWindowSize = yamuxWindow
	c.MaxStreamWindowSize = 4 * yamuxWindow
	return (*yamux.Transport)(&c)
}
