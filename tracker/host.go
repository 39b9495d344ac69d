package tracker

import (
	"fmt"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	basic "github.com/libp2p/go-libp2p/p2p/net/connmgr"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/rate"
	"github.com/multiformats/go-multiaddr"
)

const (
	// maxConns bounds the connections kept, where file descriptors allow as many.
	// A member whose connection is dropped dials again at its next announce.
	maxConns = 32 << 10
	// maxStreams bounds the streams of all connections. libp2p sets a window of
	// 256 KiB aside for each, so this rather than memory is what it counts.
	maxStreams = 16 << 10
)

// NewHost makes a libp2p host for a tracker: TCP, TLS and yamux, listening at the
// given addresses. A nil key draws an identity.
func NewHost(listen []multiaddr.Multiaddr, key crypto.PrivKey) (host.Host, error) {
	limits := rcmgr.DefaultLimits.AutoScale()
	resources, err := newResources(limits)
	if err != nil {
		return nil, err
	}
	conns, err := newConns(limits)
	if err != nil {
		resources.Close()
		return nil, err
	}
	options := []libp2p.Option{
		libp2p.NoListenAddrs,
		// A shared port would let a second tracker start beside the first, each
		// with an identity of its own and half of the connections.
		libp2p.Transport(tcp.NewTCPTransport, tcp.DisableReuseport()),
		libp2p.Security(libp2ptls.ID, libp2ptls.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(conns),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		// Members are not to be asked how they see the tracker: it is told where
		// it listens.
		libp2p.ForceReachabilityPublic(),
		libp2p.DisableIdentifyAddressDiscovery(),
	}
	if key != nil {
		options = append(options, libp2p.Identity(key))
	}
	h, err := libp2p.New(options...)
	if err != nil {
		conns.Close()
		resources.Close()
		return nil, err
	}
	// By itself libp2p is content with one address that works, and leaves its
	// goroutines behind where none does.
	for _, a := range listen {
		if err := h.Network().Listen(a); err != nil {
			h.Close()
			return nil, fmt.Errorf("cannot listen at %s: %w", a, err)
		}
	}
	return h, nil
}

// newResources is a resource manager for many members behind one address, all
// of which come at once: libp2p's default takes eight connections from an IP and
// a few hundred streams altogether. Per peer and per connection its defaults stay.
func newResources(limits rcmgr.ConcreteLimitConfig) (network.ResourceManager, error) {
	many := rcmgr.ResourceLimits{
		Conns: maxConns, ConnsInbound: maxConns, ConnsOutbound: maxConns,
		Streams: maxStreams, StreamsInbound: maxStreams, StreamsOutbound: maxStreams,
		FD: rcmgr.Unlimited, Memory: rcmgr.Unlimited64,
	}
	config := rcmgr.PartialLimitConfig{
		System: many, Transient: many, ServiceDefault: many, ProtocolDefault: many,
	}
	return rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(config.Build(limits)),
		rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{}, []rcmgr.ConnLimitPerSubnet{}),
		rcmgr.WithConnRateLimiters(&rate.Limiter{}),
		rcmgr.WithMetricsDisabled(),
	)
}

// newConns is a connection manager that drops idle connections before the file
// descriptors run out, of which libp2p's own limit is half.
func newConns(limits rcmgr.ConcreteLimitConfig) (connmgr.ConnManager, error) {
	high := maxConns
	if fds := int(limits.ToPartialLimitConfig().System.FD); fds > 0 {
		high = min(high, fds)
	}
	return basic.NewConnManager(high*3/4, high)
}
