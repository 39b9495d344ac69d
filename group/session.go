package group

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/proto/reach"
)

const (
	dialTimeout = 10 * time.Second
	// maxBatch is about the number of bytes in one write.
	maxBatch = 128 << 10
	// maxUrgent bounds the acknowledgments and heartbeats that a peer does not read: twice the messages in flight.
	maxUrgent = 2 * window / overhead
)

// stream is the stream of a session. The group's lock guards its fields.
type stream struct {
	network.Stream
	id     proto.PeerID
	opener proto.PeerID
	wake   chan struct{} // holds a token if there is something to write

	urgent []proto.Message // written before queue
	queue  []*proto.Parcel // of messages to all members, written before direct
	queued int             // bytes of queue

	direct  []*proto.Parcel // of messages to this member
	written []*proto.Parcel // of direct, in order, that the member has not taken
	flight  int             // bytes of written

	opened   bool // the first parcel has arrived
	blocked  bool // the reader waits for room
	broken   bool // the reader must not wait for room
	ended    bool
	lastRead time.Time
	lastPing time.Time
}

func newStream(s network.Stream, opener proto.PeerID) *stream {
	return &stream{Stream: s, id: proto.PeerID(s.Conn().RemotePeer()), opener: opener, wake: make(chan struct{}, 1), lastRead: time.Now()}
}

func (s *stream) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stream) control(m proto.Message) {
	if len(s.urgent) >= maxUrgent {
		s.reset()
		return
	}
	s.urgent = append(s.urgent, m)
	s.notify()
}

func (s *stream) send(p *proto.Parcel) {
	s.queue = append(s.queue, p)
	s.queued += cost(p)
	s.notify()
}

// taken records that the member has all messages to it up to a number.
func (s *stream) taken(number uint64) {
	for len(s.written) > 0 && s.written[0].Number <= number {
		s.flight -= cost(s.written[0])
		s.written[0] = nil
		s.written = s.written[1:]
	}
	s.notify()
}

// cost returns the bytes that a buffered part is charged.
func cost(p *proto.Parcel) int { return len(p.Payload) + len(p.Rest) + overhead }

// end sends a Goodbye. The peer then ends the stream.
func (s *stream) end(code proto.Code, text string) {
	s.queue, s.direct = nil, nil
	s.control(&proto.Goodbye{Code: code, Text: text})
}

// reset makes the reader end the session. It does not block: Reset may wait until the connection is written to.
func (s *stream) reset() {
	s.broken = true
	go func() { _ = s.Reset() }()
}

var errDuplicate = errors.New("another stream is kept")

// connect opens a session with a member.
func (g *Group) connect(id proto.PeerID, addrs [][]byte) error {
	ctx, cancel := context.WithTimeout(g.ctx, dialTimeout)
	defer cancel()
	s, err := g.link.Open(ctx, libpeer.ID(id), addrs)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	var m proto.Message
	err = proto.WriteMessage(s, g.link.Hello())
	if err == nil {
		m, err = proto.ReadOpening(s)
	}
	hello, ok := m.(*proto.GroupHello)
	if bye, rejected := m.(*proto.Goodbye); rejected && bye.Code == proto.CodeDuplicate {
		err = errDuplicate
	} else if err == nil && !ok {
		err = errors.New("the peer rejects the stream")
	}
	if err == nil {
		err = membership.Of(s).CheckCluster(hello.Cluster)
	}
	if err == nil {
		_, err = g.attach(newStream(s, g.self), hello)
	}
	if err != nil {
		_ = s.Reset()
	}
	return err
}

// accept answers a GroupHello.
func (g *Group) accept(s network.Stream, hello *proto.GroupHello) {
	code, err := proto.CodeExcluded, membership.Of(s).CheckCluster(hello.Cluster)
	if err == nil {
		code, err = g.attach(newStream(s, proto.PeerID(s.Conn().RemotePeer())), hello)
	}
	if err != nil {
		_ = proto.WriteMessage(s, &proto.Goodbye{Code: code, Text: err.Error()})
		_ = s.Close()
	}
}

// sessions returns the number of sessions. The caller holds the lock.
func (g *Group) sessions() (n int) {
	for _, m := range g.members {
		if m.stream != nil {
			n++
		}
	}
	return n
}

// attach starts a session on a stream, or returns why not.
func (g *Group) attach(s *stream, hello *proto.GroupHello) (proto.Code, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.members[s.id]
	switch {
	case g.closing || g.ctx.Err() != nil:
		return proto.CodeLeaving, ErrClosed
	case (m == nil || m.stream == nil) && g.sessions() >= maxSessions:
		return proto.CodeBusy, fmt.Errorf("the member has %d sessions", maxSessions)
	case m == nil:
		if m = g.learn(&proto.Member{ID: s.id}); m == nil {
			return proto.CodeBusy, fmt.Errorf("the member knows %d members", maxMembers)
		}
	case s.opener == g.self && m.stream != nil, s.opener > g.self && m.dialing:
		return proto.CodeDuplicate, errDuplicate
	case m.stream != nil && s.opener > m.stream.opener:
		return proto.CodeDuplicate, errDuplicate // the peer opened it before it accepted the stream that is kept
	case m.stream != nil:
		g.end(m) // the peer has lost it
	}
	g.inbox.of(s.id).session = true
	if s.opener != g.self {
		s.control(g.link.Hello())
	}
	_ = s.SetDeadline(time.Time{})
	g.node.Host().ConnManager().Protect(libpeer.ID(s.id), g.tag())
	m.stream, m.cluster, m.attempts, m.retry, m.rtt = s, hello.Cluster, 0, time.Time{}, 1
	if addrs := reach.FromPeer(hello.Addrs, reach.IP(s.Conn().RemoteMultiaddr())); len(addrs) > 0 {
		m.addrs = addrs
	}
	// Its number is right only if this is the first parcel of a session that the next message is sent to.
	s.send(&proto.Parcel{Sender: g.self, Number: g.lastCast, Parts: 1, Sum: sha256.Sum256(g.newest), Payload: g.newest})
	for _, p := range m.backlog {
		s.send(p)
	}
	m.backlog = nil
	s.lastPing = time.Now()
	s.control(&proto.Ping{Nonce: uint64(s.lastPing.UnixMicro())})
	g.regroup()
	g.wg.Go(func() { g.read(s) })
	g.wg.Go(func() { g.write(s) })
	return 0, nil
}

func (g *Group) tag() string { return "group " + string(g.cfg.Key[:8]) }

// end ends the session with a member. The caller holds the lock.
func (g *Group) end(m *member) {
	s := m.stream
	s.ended = true
	s.reset()
	s.queue, s.direct, s.written = nil, nil, nil
	s.notify()
	m.stream, m.rtt = nil, 0
	g.retry(m, retryPause)
	g.node.Host().ConnManager().Unprotect(libpeer.ID(m.id), g.tag())
	g.reassign(m)
	g.regroup()
	g.inbox.leave(m.id)
	g.arrived.fire()
}

// breakUp makes the reader of a stream end the session. The caller holds the lock.
func (g *Group) breakUp(s *stream) {
	s.reset()
	g.changed.fire()
}

// read handles what arrives on a stream until it ends.
func (g *Group) read(s *stream) {
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !s.ended {
			g.end(g.members[s.id])
		}
	}()
	defer context.AfterFunc(g.ctx, func() { time.AfterFunc(lingerTimeout, func() { _ = s.Reset() }) })()
	r := bufio.NewReader(s) // payloads bypass its buffer
	for {
		m, err := proto.ReadGroup(r)
		if err != nil || !g.handle(s, m) {
			return
		}
	}
}

// handle handles a message, and reports whether the stream continues.
func (g *Group) handle(s *stream, m proto.Message) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.lastRead = time.Now()
	if s.ended {
		return false
	}
	from := g.members[s.id]
	switch m := m.(type) {
	case *proto.Parcel:
		return g.handleParcel(s, m)
	case *proto.ParcelTaken:
		switch {
		case m.Sender != g.self:
		case m.Number&proto.ParcelDirect == 0:
			g.taken(from, m.Number)
		default:
			s.taken(m.Number)
			g.changed.fire()
		}
	case *proto.Ping:
		s.control(&proto.Pong{Nonce: m.Nonce})
	case *proto.Pong:
		from.rtt = max(time.Duration(uint64(s.lastRead.UnixMicro())-m.Nonce)*time.Microsecond, 1)
	default:
		return false
	}
	return true
}

// handleParcel handles a parcel. The caller holds the lock, which is released while it waits for room.
func (g *Group) handleParcel(s *stream, p *proto.Parcel) bool {
	if p.Sender == g.self {
		return true
	}
	cast := p.Number&proto.ParcelDirect == 0
	if p.Sender != s.id && (!s.opened || !cast) {
		return false
	}
	if !g.inbox.admits(p.Sender) {
		return true
	}
	for !s.broken && g.inbox.full(p) {
		s.blocked = true
		err := g.await(g.ctx, &g.changed)
		s.blocked, s.lastRead = false, time.Now()
		if err != nil {
			return false
		}
	}
	if s.broken {
		return false
	}
	var taken []uint64
	ok := true
	switch {
	case !s.opened:
		s.opened = true
		if !cast || p.Parts != 1 || sha256.Sum256(p.Payload) != p.Sum {
			return false
		}
		taken = g.inbox.first(p)
	case !cast:
		var done bool
		if done, ok = g.inbox.addDirect(p); done {
			taken = []uint64{p.Number}
		}
	default:
		g.forward(p)
		taken, ok = g.inbox.add(p, s.lastRead)
	}
	if len(g.inbox.ready) > 0 {
		g.arrived.fire()
	}
	if m := g.members[p.Sender]; m != nil && m.stream != nil {
		for _, number := range taken {
			m.stream.control(&proto.ParcelTaken{Sender: p.Sender, Number: number})
		}
	}
	return ok
}

// write writes what is queued on a stream until the session ends.
func (g *Group) write(s *stream) {
	var buf []byte
	for {
		var last bool
		buf, last = g.batch(s, buf[:0])
		if len(buf) > 0 {
			_ = s.SetWriteDeadline(time.Now().Add(silence))
			if _, err := s.Write(buf); err != nil {
				g.mu.Lock()
				g.breakUp(s)
				g.mu.Unlock()
				return
			}
		}
		switch {
		case last:
			_ = s.CloseWrite()
			return
		case len(buf) == 0:
			<-s.wake
		}
	}
}

// batch takes queued messages off a stream, appends them to buf, and reports whether they are the last ones. It copies payloads
// under the lock: their owner may change them once they are not queued.
func (g *Group) batch(s *stream, buf []byte) (_ []byte, last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.ended {
		return buf, true
	}
	urgent := s.urgent
	s.urgent = nil
	for _, m := range urgent {
		buf, _ = proto.AppendFrame(buf, m) // its fields are within the limits
		if _, last = m.(*proto.Goodbye); last {
			return buf, true
		}
	}
	before := len(buf)
	for ; len(buf) < maxBatch && len(s.queue) > 0; s.queue = s.queue[1:] {
		p := s.queue[0]
		s.queue[0] = nil
		s.queued -= cost(p)
		buf = proto.AppendParcel(buf, p)
	}
	for ; len(buf) < maxBatch && len(s.direct) > 0 && s.flight < window; s.direct = s.direct[1:] {
		p := s.direct[0]
		s.direct[0] = nil
		s.flight += cost(p)
		s.written = append(s.written, p)
		buf = proto.AppendParcel(buf, p)
	}
	if len(buf) > before {
		g.changed.fire()
	}
	return buf, false
}
