package peer

import (
	"bufio"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/requests"
	"github.com/mobgrid/mob/proto"
)

const (
	// handshakeTimeout bounds the exchange of Hellos.
	handshakeTimeout = 10 * time.Second
	// writeTimeout is how long a peer may leave a message or a block unread.
	writeTimeout = 30 * time.Second
	// sendQueue is how many messages may wait for a peer that does not read.
	sendQueue = 4096
)

// session is the conversation with one peer about one swarm.
type session struct {
	// Constant.
	swarm  *swarm
	peer   libpeer.ID
	hello  *proto.Hello // the peer's
	local  bool
	dialer libpeer.ID // who opened the stream
	stream network.Stream
	out    chan proto.Message
	asked  *requests.Asked
	upload *requests.Queue
	ctx    context.Context // ends with the session
	cancel context.CancelFunc

	channels struct {
		sync.Mutex
		closed bool
		open   map[channel]struct{}
		users  sync.WaitGroup
	}
}

func newSession(s *swarm, stream network.Stream, hello *proto.Hello, dialer libpeer.ID) *session {
	sess := &session{
		swarm: s, peer: stream.Conn().RemotePeer(), hello: hello, dialer: dialer, stream: stream,
		local: hello.Cluster == s.node.cfg.Cluster,
		out:   make(chan proto.Message, sendQueue),
		asked: requests.NewAsked(), upload: requests.NewQueue(),
	}
	sess.ctx, sess.cancel = context.WithCancel(s.ctx)
	sess.channels.open = map[channel]struct{}{}
	return sess
}

func (c *session) id() proto.PeerID { return proto.PeerID(c.peer) }

func (c *session) node() mob.Node { return mob.Node{ID: c.id(), Cluster: c.hello.Cluster} }

// start runs the session until it is closed, and then reports its end.
func (c *session) start() {
	c.swarm.wg.Go(func() {
		err := c.read()
		c.close()
		c.channels.users.Wait()
		c.swarm.post(input{sess: c, ended: true, err: err})
	})
	c.swarm.wg.Go(c.write)
	c.swarm.wg.Go(c.serve)
}

// send queues a message. A peer that lets thousands wait is dropped.
func (c *session) send(m proto.Message) {
	select {
	case c.out <- m:
	case <-c.ctx.Done():
	default:
		c.close()
	}
}

// close ends the session from any goroutine, at once. Closing again does nothing.
func (c *session) close() {
	c.cancel()
	_ = c.stream.Reset()
	c.upload.Close()
	c.channels.Lock()
	defer c.channels.Unlock()
	c.channels.closed = true
	for ch := range c.channels.open {
		_ = ch.Reset()
	}
}

// maxChannels bounds the channels of a session, those in both directions together.
const maxChannels = 16

// hold makes ch end with the session, which does not end before it is released.
// It is false when the session has ended already, or has enough.
func (c *session) hold(ch channel) bool {
	c.channels.Lock()
	defer c.channels.Unlock()
	if c.channels.closed || len(c.channels.open) >= maxChannels {
		return false
	}
	c.channels.open[ch] = struct{}{}
	c.channels.users.Add(1)
	return true
}

// release ends ch.
func (c *session) release(ch channel) {
	_ = ch.Reset()
	c.letGo(ch)
}

// retire ends a stream after what was written to it.
func (c *session) retire(ch channel) {
	if s, ok := ch.(interface{ CloseWrite() error }); ok {
		_ = s.CloseWrite()
	}
	time.AfterFunc(writeTimeout, func() { _ = ch.Reset() }) // if the peer does not take it
	c.letGo(ch)
}

func (c *session) letGo(ch channel) {
	c.channels.Lock()
	defer c.channels.Unlock()
	delete(c.channels.open, ch)
	c.channels.users.Done()
}

// errFlood ends the session of a peer that asks for too much at once.
var errFlood = errors.New("too many requests are waiting")

// read takes in messages until the stream ends.
func (c *session) read() error {
	r := bufio.NewReaderSize(c.stream, 16<<10)
	for {
		m, err := proto.ReadMessage(r)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *proto.Request:
			if !c.swarm.valid(m.Span) || !c.upload.Add(m.Span) {
				return errFlood
			}
		case *proto.Cancel:
			c.upload.Cancel(m.Span)
		case *proto.Bad:
			c.swarm.complain(c, m.Piece)
		case *proto.Members:
			c.swarm.post(input{told: true, members: m.Members})
		case *proto.Goodbye:
			return &proto.RemoteError{Code: m.Code, Text: m.Text}
		default:
			c.swarm.post(input{ev: mob.Received{Peer: c.id(), Message: m}, sess: c})
		}
	}
}

// write sends what is queued, as much as there is with each system call. The
// last message of a session that is dropped is its Goodbye.
func (c *session) write() {
	var buf []byte
	for {
		select {
		case <-c.ctx.Done():
			return
		case m := <-c.out:
			var bye bool
			buf, bye = c.batch(buf[:0], m)
			_ = c.stream.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := c.stream.Write(buf); err != nil {
				c.close()
				return
			}
			if bye {
				// The reader ends when the peer closes its side.
				_ = c.stream.CloseWrite()
				_ = c.stream.SetReadDeadline(time.Now().Add(time.Second))
				return
			}
		}
	}
}

// maxBatch is about how many bytes are written at once.
const maxBatch = 64 << 10

// batch appends the frames of m and of what else is queued, up to a Goodbye.
func (c *session) batch(buf []byte, m proto.Message) (_ []byte, bye bool) {
	for {
		var err error
		if buf, err = proto.AppendFrame(buf, m); err != nil {
			c.swarm.log.Error("message dropped", "peer", c.peer, "error", err)
		}
		if _, bye = m.(*proto.Goodbye); bye || len(buf) >= maxBatch {
			return buf, bye
		}
		select {
		case m = <-c.out:
		default:
			return buf, false
		}
	}
}
