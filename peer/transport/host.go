package transport

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/membership"
)

const (
	// yamuxMessage is the most payload in a frame of the muxer. Larger frames mean
	// fewer switches between its goroutines.
	yamuxMessage = 1 << 20
	// yamuxWindow bounds the window of a stream, in bytes. It starts at the protocol's
	// 256 KiB and grows while the stream is read as fast as data arrives.
	yamuxWindow = 64 << 20
	// writeTimeout bounds a write to a connection whose peer reads nothing: the process is stopped, or its machine is
	// overloaded. Yamux extends it in its second half only, so half of it is certain.
	writeTimeout = 90 * time.Second
	// idleCheck is the interval of checks for idle connections.
	idleCheck = 5 * time.Second
)

// NewHost returns a libp2p host for a node or a tracker: TLS 1.3 and yamux over TCP,
// listening on each of the addresses. With a bulk endpoint, which must have the same key,
// the host's port accepts bulk sockets too.
//
// It has only the parts of libp2p's host that nodes and trackers use, and no identify
// protocol: nodes announce their addresses in their own messages. Without libp2p's host the
// program is a third smaller.
//
// The host lifts libp2p's limits per IP address, 8 connections and a new one every 5 s,
// which a site behind one gateway exceeds. Instead, one address may have as many connections
// as are free. Peers that the connection manager protects share a swarm with the host. All
// other peers have few streams, and their idle connections are closed. The host dials and
// opens streams without waiting for protocol negotiation: the first read fails if the peer
// does not support the protocol.
//
// With a member the host is in a network: it exchanges credentials on each connection before
// any other stream, opens streams to members only, and rejects streams of other peers.
func NewHost(key crypto.PrivKey, listen []ma.Multiaddr, bulk *Endpoint, member *membership.Member) (host.Host, error) {
	conns := connsByFiles()
	rm, err := newLimits(conns)
	if err != nil {
		return nil, fmt.Errorf("resource manager: %w", err)
	}
	cm, err := connmgr.NewConnManager(conns*3/4, conns, connmgr.WithGracePeriod(time.Minute))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connection manager: %w", err), rm.Close())
	}
	n, bus, err := newNetwork(key, bulk, rm)
	if err != nil {
		return nil, errors.Join(err, cm.Close(), rm.Close())
	}
	h, err := newLazyHost(n, bus, rm, protector{cm, rm})
	if err != nil {
		return nil, err
	}
	if member != nil {
		h.gate = newGate(h, member)
	}
	// One call for each: a call with several does not fail if one of them works.
	for _, addr := range listen {
		if err := n.Listen(addr); err != nil {
			return nil, errors.Join(listenError(addr, err), h.Close())
		}
	}
	return h, nil
}

// newNetwork returns the connections of a host, which do not listen yet.
func newNetwork(key crypto.PrivKey, bulk *Endpoint, rm *limits) (_ *swarm.Swarm, _ event.Bus, err error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	muxers := []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: newMuxer()}}
	identity, err := newIdentity(key)
	if err != nil {
		return nil, nil, err
	}
	up, err := upgrader.New([]sec.SecureTransport{&security{identity, id}}, muxers, nil, rm, nil)
	if err != nil {
		return nil, nil, err
	}
	t, err := newTCP(eagerUpgrader{up}, rm, bulk)
	if err != nil {
		return nil, nil, err
	}
	peers, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, nil, err
	}
	bus := eventbus.NewBus()
	// Otherwise, after a hundred dials of public IPv6 addresses failed, as in an outage, the swarm would try one in a hundred.
	everyDial := swarm.WithIPv6BlackHoleSuccessCounter(nil)
	n, err := swarm.NewSwarm(id, peers, bus, swarm.WithResourceManager(rm), swarm.WithDialRanker(rankDials), everyDial)
	if err != nil {
		return nil, nil, errors.Join(err, peers.Close())
	}
	err = errors.Join(peers.AddPrivKey(id, key), peers.AddPubKey(id, key.GetPublic()), n.AddTransport(t))
	if err != nil {
		return nil, nil, errors.Join(err, n.Close(), peers.Close())
	}
	return n, bus, nil
}

func listenError(addr ma.Multiaddr, err error) error {
	// libp2p keeps the text of the cause but does not wrap it.
	if strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
		return fmt.Errorf("%s is in use by another program: choose another --listen, or port 0 for any free port", addr)
	}
	return fmt.Errorf("cannot listen at %s: %w", addr, err)
}

func newMuxer() *yamux.Transport {
	c := *yamux.DefaultTransport.Config()
	c.MaxMessageSize = yamuxMessage
	c.MaxStreamWindowSize = yamuxWindow
	c.MaxIncomingStreams = maxPeerStreams
	c.ConnectionWriteTimeout = writeTimeout
	return (*yamux.Transport)(&c)
}
