package transport

import (
	"errors"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/x/rate"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto/reach"
)

// A non-member is a peer that shares no swarm with this host, so it is not protected in the
// connection manager. Its streams carry one request or a Hello.
const (
	// maxConns bounds the connections of a host: far above the size of any cluster.
	maxConns = 8192
	// maxStreams bounds the inbound streams of a host, and maxPeerStreams the inbound
	// streams of one peer. Members have a handful per common swarm. One address has as many of theirs as are free.
	maxStreams     = 16 << 10
	maxPeerStreams = 512
	// maxNonMemberStreams bounds the streams of all non-members, and maxNonMemberPeerStreams
	// the streams of one.
	maxNonMemberStreams     = 4096
	maxNonMemberPeerStreams = 32
	// streamMemory is the memory that libp2p reserves for a stream before its window grows.
	streamMemory = 256 << 10
	// idleTimeout bounds the time of a non-member's connection without a stream. Nodes
	// announce themselves to trackers more often.
	idleTimeout = 2 * time.Minute
)

// limits is the resource manager of a host: libp2p's for the host as a whole and for each
// peer, and shares of the connections and of non-members' streams for each address.
type limits struct {
	network.ResourceManager

	mu      sync.Mutex
	conns   *quota.Quota[netip.Addr] // inbound connections
	many    int                      // inbound connections, a quarter of those allowed
	streams *quota.Quota[netip.Addr] // inbound streams of non-members
	members *quota.Quota[netip.Addr] // inbound streams of members
	peers   map[peer.ID]*usage       // peers with a connection
	now     func() time.Time
}

// usage contains a peer's connections and streams.
type usage struct {
	host      netip.Addr // of its last connection
	conns     map[*limited]struct{}
	protected bool
	streams   map[*limited]struct{} // streams that count as a non-member's
	used      time.Time             // of its last stream
}

// limited is the part of a connection or a stream in the limits.
type limited struct {
	limits *limits
	peer   peer.ID // empty until it is known
	host   netip.Addr
	quota  *quota.Quota[netip.Addr] // in which host holds a slot for it, or nil
	done   bool
}

// release frees the connection's or the stream's part. It may be called again.
func (c *limited) release() {
	l := c.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.done {
		return
	}
	c.done = true
	if c.quota != nil {
		c.quota.Release(c.host)
	}
	if u := l.peers[c.peer]; u != nil {
		u.used = l.now()
		delete(u.conns, c)
		delete(u.streams, c)
		l.forget(c.peer, u)
	}
}

var errShare = errors.New("the address has its share of the host's connections")

// newLimits returns the limits of a host with conns connections, three quarters of them inbound. Memory is
// reserved for twice the allowed streams, and windows grow in the first half only, so no stream fails because
// another grew.
func newLimits(conns int) (*limits, error) {
	libp2p := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{
			Conns:          rcmgr.LimitVal(conns),
			StreamsInbound: maxStreams,
			Memory:         2 * 2 * maxStreams * streamMemory,
		},
		PeerDefault: rcmgr.ResourceLimits{
			StreamsInbound:  maxPeerStreams,
			StreamsOutbound: maxPeerStreams,
			Memory:          2 * 2 * maxPeerStreams * streamMemory,
		},
	}
	rm, err := rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(libp2p.Build(rcmgr.InfiniteLimits)),
		rcmgr.WithLimitPerSubnet([]rcmgr.ConnLimitPerSubnet{}, []rcmgr.ConnLimitPerSubnet{}),
		rcmgr.WithConnRateLimiters(&rate.Limiter{}),
		rcmgr.WithMetricsDisabled(),
	)
	if err != nil {
		return nil, err
	}
	return &limits{
		ResourceManager: rm,
		conns:           quota.New[netip.Addr](conns * 3 / 4),
		many:            conns * 3 / 16,
		streams:         quota.New[netip.Addr](maxNonMemberStreams),
		members:         quota.New[netip.Addr](maxStreams - maxNonMemberStreams),
		peers:           map[peer.ID]*usage{},
		now:             time.Now,
	}, nil
}

// connsByFiles returns the number of connections of a host, at most half of the files that its process may open:
// a flood leaves files for the rest of the process.
func connsByFiles() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return maxConns
	}
	return int(min(files.Cur/2, maxConns))
}

// HostOf returns the holder of an address in a quota, see [quota.Host]. All addresses without an IP have
// the same holder.
func HostOf(addr ma.Multiaddr) netip.Addr { return quota.Host(reach.IP(addr)) }

func (l *limits) OpenConnection(
	dir network.Direction, usefd bool, addr ma.Multiaddr,
) (network.ConnManagementScope, error) {
	c := &limitedConn{limited: limited{limits: l, host: HostOf(addr)}}
	if dir == network.DirInbound {
		l.mu.Lock()
		ok := l.conns.Take(c.host)
		l.mu.Unlock()
		if !ok {
			return nil, errShare
		}
		c.quota = l.conns
	}
	scope, err := l.ResourceManager.OpenConnection(dir, usefd, addr)
	if err != nil {
		c.release()
		return nil, err
	}
	c.ConnManagementScope = scope
	return c, nil
}

// limitedConn is a connection's scope.
type limitedConn struct {
	network.ConnManagementScope
	limited
}

func (c *limitedConn) SetPeer(id peer.ID) error {
	if err := c.ConnManagementScope.SetPeer(id); err != nil {
		return err
	}
	l := c.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.done || c.peer != "" {
		return nil
	}
	c.peer = id
	u := l.usage(id)
	u.host, u.used = c.host, l.now()
	u.conns[&c.limited] = struct{}{}
	return nil
}

// Done implements [network.ResourceScopeSpan]. It may be called again.
func (c *limitedConn) Done() {
	c.ConnManagementScope.Done()
	c.release()
}

// usage returns the usage of a peer. The caller holds the lock.
func (l *limits) usage(id peer.ID) *usage {
	u := l.peers[id]
	if u == nil {
		u = &usage{conns: map[*limited]struct{}{}, streams: map[*limited]struct{}{}}
		l.peers[id] = u
	}
	return u
}

// forget drops a peer without connections and streams. The caller holds the lock.
func (l *limits) forget(id peer.ID, u *usage) {
	if len(u.conns) == 0 && len(u.streams) == 0 && !u.protected {
		delete(l.peers, id)
	}
}

func (l *limits) OpenStream(id peer.ID, dir network.Direction) (network.StreamManagementScope, error) {
	s := &limitedStream{limited: limited{limits: l, peer: id}}
	if err := s.count(dir); err != nil {
		return nil, err
	}
	scope, err := l.ResourceManager.OpenStream(id, dir)
	if err != nil {
		s.release()
		return nil, err
	}
	s.StreamManagementScope = scope
	return s, nil
}

// limitedStream is a stream's scope.
type limitedStream struct {
	network.StreamManagementScope
	limited
}

func (s *limitedStream) count(dir network.Direction) error {
	l := s.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage(s.peer)
	u.used = l.now()
	if dir != network.DirInbound {
		return nil
	}
	s.host, s.quota = u.host, l.streams
	if u.protected {
		s.quota = l.members
	}
	if !u.protected && len(u.streams) >= maxNonMemberPeerStreams || !s.quota.Take(u.host) {
		return errShare
	}
	if !u.protected {
		u.streams[&s.limited] = struct{}{}
	}
	return nil
}

// Done implements [network.ResourceScopeSpan]. It may be called again.
func (s *limitedStream) Done() {
	s.StreamManagementScope.Done()
	s.release()
}

// protect records whether a peer is a member. The streams of a new member do not count as a non-member's.
func (l *limits) protect(id peer.ID, protected bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.usage(id)
	u.protected, u.used = protected, l.now()
	if protected {
		for s := range u.streams {
			l.streams.Release(s.host)
			l.members.Grant(s.host)
			s.quota = l.members
		}
		clear(u.streams)
	}
	l.forget(id, u)
}

// isIdle reports whether a peer is a non-member without a stream for idleTimeout. With many connections it is idle after
// idleCheck: a tracker serves more nodes than it may have connections, and half of them may be behind one address.
func (l *limits) isIdle(id peer.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	timeout := idleTimeout
	if l.conns.Used() > l.many {
		timeout = idleCheck
	}
	u := l.peers[id]
	return u != nil && !u.protected && len(u.streams) == 0 && l.now().Sub(u.used) >= timeout
}

// closeIdle closes the idle connections of non-members.
func (l *limits) closeIdle(conns []network.Conn) {
	for _, c := range conns {
		if c.Stat().NumStreams == 0 && l.isIdle(c.RemotePeer()) {
			_ = c.Close()
		}
	}
}

// protector is a connection manager that reports members to the limits.
type protector struct {
	connmgr.ConnManager
	limits *limits
}

func (p protector) Protect(id peer.ID, tag string) {
	p.ConnManager.Protect(id, tag)
	p.limits.protect(id, true)
}

func (p protector) Unprotect(id peer.ID, tag string) (protected bool) {
	protected = p.ConnManager.Unprotect(id, tag)
	if !protected {
		p.limits.protect(id, false)
	}
	return protected
}
