package group

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// MaxMessage bounds a message, in bytes.
const MaxMessage = 1 << 20

// maxMembers bounds the members that a node remembers.
const maxMembers = 1024

// Config configures a [Group].
type Config struct {
	// Key names the group. Outside a network, every node that has it can join.
	Key [32]byte
	// Trackers are asked for members in addition to the node's own.
	Trackers []ma.Multiaddr
	// Newest is the first message of [Group.SetNewest], for every session.
	Newest []byte
}

// Member is a member of a group.
type Member struct {
	ID      libpeer.ID
	Cluster string
	// RTT is the last round trip, 0 without a session. Before it was measured it is a nanosecond.
	RTT time.Duration
}

// Message is a message from a member.
type Message struct {
	From  libpeer.ID
	Bytes []byte
	// Left reports the end of the session with the member, which may miss messages from then on. There are no Bytes.
	Left bool
}

// Group is the membership of a node in a group.
type Group struct {
	cfg     Config
	link    *peer.GroupLink
	self    proto.PeerID
	cluster string
	node    *peer.Node
	ctx     context.Context // ends with the membership
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	close   sync.Once

	mu      sync.Mutex // guards what follows; nothing under it waits for the network or a channel
	members map[proto.PeerID]*member
	layout  map[string][]proto.PeerID // sorted members by cluster, with this node; nil after a change
	inbox   inbox
	newest  []byte // see [Group.SetNewest]
	arrived signal // a message is ready
	changed signal // anything else that a caller waits for
	closing bool

	casts    map[uint64]*cast // that some member has not taken
	castCost int
	lastCast uint64
	direct   uint64 // number of the last message to one member
}

// signal wakes the goroutines that wait for a change.
type signal struct{ c chan struct{} }

// wait returns a channel that is closed by the next fire. The caller holds the group's lock, as for fire.
func (s *signal) wait() <-chan struct{} {
	if s.c == nil {
		s.c = make(chan struct{})
	}
	return s.c
}

func (s *signal) fire() {
	if s.c != nil {
		close(s.c)
		s.c = nil
	}
}

// ErrClosed is the error of methods after Close, or after the node has closed.
var ErrClosed = errors.New("the group is closed")

// await waits for a signal. The caller holds the lock, which is released during that.
func (g *Group) await(ctx context.Context, s *signal) error {
	c := s.wait()
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.ctx.Done():
		return ErrClosed
	}
}

// Join joins the group of the given key. Members are found by the node's trackers and by peers.
// It does not wait for them. The membership lasts until Close. It fails if the node is in the group.
func Join(_ context.Context, n *peer.Node, cfg Config) (*Group, error) {
	now := uint64(time.Now().UnixMicro())
	g := &Group{
		cfg: cfg, node: n, self: proto.PeerID(n.Host().ID()), cluster: n.Cluster(),
		members: map[proto.PeerID]*member{}, casts: map[uint64]*cast{}, lastCast: now, direct: now | proto.ParcelDirect, newest: cfg.Newest,
	}
	var err error
	g.mu.Lock() // for a stream that arrives before g is complete
	if g.link, err = n.JoinGroup(keyID(cfg.Key), cfg.Trackers, g.accept); err != nil {
		return nil, err
	}
	g.ctx, g.cancel = context.WithCancel(g.link.Context())
	g.wg.Go(g.announce)
	g.wg.Go(func() {
		g.tick()
		g.Close() // if the node has closed
	})
	g.mu.Unlock()
	return g, nil
}

// Flush waits until all members with a session have taken all messages, or ctx ends.
func (g *Group) Flush(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.unsent() && g.await(ctx, &g.changed) == nil {
	}
}

// lingerTimeout bounds the time for waiting messages when a node leaves.
const lingerTimeout = time.Second

// Close leaves the group, after at most a second in which waiting messages are sent.
func (g *Group) Close() {
	g.close.Do(func() {
		g.link.Leave()
		ctx, cancel := context.WithTimeout(g.link.Context(), lingerTimeout)
		defer cancel()
		g.Flush(ctx)
		g.mu.Lock()
		g.closing = true
		for _, m := range g.members {
			if m.stream != nil {
				m.stream.end(proto.CodeLeaving, "the member leaves the group")
			}
		}
		g.mu.Unlock()
		g.cancel()
		go func() {
			g.wg.Wait()
			g.link.Close()
		}()
	})
}

// Drain waits until all messages to single members are copied from the queues. Their bytes may then change.
func (g *Group) Drain(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.members {
		for m.stream != nil && len(m.stream.direct) > 0 {
			if err := g.await(ctx, &g.changed); err != nil {
				return err
			}
		}
	}
	return nil
}

// unsent reports whether a member with a session has not taken a message. The caller holds the lock.
func (g *Group) unsent() bool {
	for _, m := range g.members {
		if s := m.stream; s != nil && len(s.queue)+len(s.direct)+len(s.written) > 0 {
			return true
		}
	}
	return len(g.casts) > 0
}

// Node returns the node that is in the group.
func (g *Group) Node() *peer.Node { return g.node }

// SetNewest sets a message of at most 32 KiB, which every member receives when its session with this node starts. It is not
// sent to members that have a session. Nil means none.
func (g *Group) SetNewest(message []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.newest = message
}

// Newest returns what SetNewest set.
func (g *Group) Newest() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.newest
}

// Members returns the other members that this node knows, in the order of clusters and peer ids.
func (g *Group) Members() []Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Member
	for _, m := range g.members {
		out = append(out, Member{libpeer.ID(m.id), m.cluster, m.rtt})
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Receive returns the next message.
func (g *Group) Receive(ctx context.Context) (Message, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if a, ok := g.inbox.receive(); ok {
			g.changed.fire() // a reader may wait for room
			return Message{libpeer.ID(a.from), a.bytes, a.left}, nil
		}
		if err := g.await(ctx, &g.arrived); err != nil {
			return Message{}, err
		}
	}
}
