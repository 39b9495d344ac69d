package peer

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// errInGroup is returned by [Node.JoinGroup] for a key that the node uses already.
var errInGroup = errors.New("the node is in the group already")

// GroupLink is the part of a node that a group uses: its streams and its trackers, under one key.
type GroupLink struct {
	node   *Node
	key    cid.Cid
	finder Finder // nil if there are no trackers
	accept func(network.Stream, *proto.GroupHello)
}

// groups are the groups of a node.
type groups struct {
	mu    sync.Mutex
	byKey map[string]*GroupLink
}

// JoinGroup passes streams that other nodes open with this key to accept, each in its own goroutine, until Leave. The
// node does not close before Close of the link. The trackers are asked for members in addition to the node's own.
func (n *Node) JoinGroup(key cid.Cid, trackers []ma.Multiaddr, accept func(network.Stream, *proto.GroupHello)) (*GroupLink, error) {
	if err := n.enter(); err != nil {
		return nil, err
	}
	g := &n.groups
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byKey[key.KeyString()] != nil {
		n.wg.Done()
		return nil, errInGroup
	}
	l := &GroupLink{n, key, n.ownTrackers.finder(&proto.Link{Manifest: key, Trackers: trackers}), accept}
	g.byKey[key.KeyString()] = l
	return l, nil
}

// acceptStream hands an incoming stream to the group that its GroupHello names.
func (g *groups) acceptStream(stream network.Stream) {
	_ = stream.SetDeadline(time.Now().Add(swarm.HandshakeTimeout))
	m, err := proto.ReadOpening(stream)
	hello, ok := m.(*proto.GroupHello)
	if err != nil || !ok {
		_ = stream.Reset()
		return
	}
	g.mu.Lock()
	l := g.byKey[string(hello.Key)]
	g.mu.Unlock()
	if l == nil {
		_ = proto.WriteMessage(stream, &proto.Goodbye{Code: proto.CodeUnknownSwarm, Text: "the node is not in the group"})
		_ = stream.Close()
		return
	}
	l.accept(stream, hello)
}

// Context ends when the node closes.
func (l *GroupLink) Context() context.Context { return l.node.ctx }

// Hello returns the node's message at the start of a stream.
func (l *GroupLink) Hello() *proto.GroupHello {
	return &proto.GroupHello{Key: l.key.Bytes(), Cluster: l.node.cfg.Cluster, Addrs: l.node.dialer.addrBytes()}
}

// Open opens a stream to another node of the group.
func (l *GroupLink) Open(ctx context.Context, id libpeer.ID, addrs [][]byte) (network.Stream, error) {
	info := libpeer.AddrInfo{ID: id, Addrs: transport.ParseAddrs(addrs)}
	return transport.OpenStream(ctx, l.node.host, info, proto.GroupProtocol)
}

// Announce announces the node to the trackers, and returns the members that they know and the time to the next
// announce. Without trackers there are none.
func (l *GroupLink) Announce(ctx context.Context, leaving bool) ([]proto.Member, time.Duration, error) {
	if l.finder == nil {
		return nil, time.Hour, nil
	}
	h := l.Hello()
	reply, err := l.finder.Announce(ctx, &proto.Announce{Swarm: h.Key, Cluster: h.Cluster, Addrs: h.Addrs, Leaving: leaving})
	if err != nil {
		return nil, 0, err
	}
	members := slices.DeleteFunc(reply.Members, func(m proto.Member) bool {
		_, err := libpeer.IDFromBytes([]byte(m.ID))
		return err != nil
	})
	return members, time.Duration(reply.Interval) * time.Second, nil
}

// Leave ends the calls of accept. Another group may then use the key.
func (l *GroupLink) Leave() {
	g := &l.node.groups
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byKey[l.key.KeyString()] == l {
		delete(g.byKey, l.key.KeyString())
	}
}

// Close closes the client of the trackers. It is called once, after Leave.
func (l *GroupLink) Close() {
	if l.finder != nil {
		_ = l.finder.Close()
	}
	l.node.wg.Done()
}
