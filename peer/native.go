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

// native is the line to a node: a control stream, and channels for blocks.
type native struct {
	*session
	// Constant.
	peer   libpeer.ID
	hello  *proto.Hello // the peer's
	stream network.Stream
	out    chan proto.Message
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

// newNative is the session of a node whose greeting has come. dialer opened the
// stream.
func newNative(s *swarm, stream network.Stream, hello *proto.Hello, dialer libpeer.ID) *session {
	id := stream.Conn().RemotePeer()
	c := &native{peer: id, hello: hello, stream: stream, out: make(chan proto.Message, sendQueue), upload: requests.NewQueue()}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.channels.open = map[channel]struct{}{}
	c.session = &session{
		swarm: s, name: id.String(),
		node:  mob.Node{ID: proto.PeerID(id), Cluster: hello.Cluster},
		whole: hello.Seed, local: hello.Cluster == s.node.cfg.Cluster, dialer: proto.PeerID(dialer), addrs: hello.Addrs,
		asked: requests.NewAsked(), line: c,
	}
	return c.session
}

// start runs the session until it is closed, and then reports its end.
func (c *native) start() {
	c.swarm.wg.Go(func() {
		err := c.read()
		c.close()
		c.channels.users.Wait()
		c.ended(err)
	})
	c.swarm.wg.Go(c.write)
	c.swarm.wg.Go(c.serve)
}

// send queues a message. A peer that lets thousands wait is dropped.
func (c *native) send(m proto.Message) {
	select {
	case c.out <- m:
	case <-c.ctx.Done():
	default:
		c.close()
	}
}

// close ends the session from any goroutine, at once. Closing again does nothing.
func (c *native) close() {
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

// refuse says why there is no session, and ends what there is of it.
func (c *native) refuse(code proto.Code, why string) {
	c.swarm.wg.Go(func() {
		_ = c.stream.SetWriteDeadline(time.Now().Add(time.Second))
		_ = proto.WriteMessage(c.stream, &proto.Goodbye{Code: code, Text: why})
		_ = c.stream.CloseWrite()
		c.close()
	})
}

// dismiss says why the session ends, and ends it.
func (c *native) dismiss(code proto.Code, why string) {
	c.send(&proto.Goodbye{Code: code, Text: why})
	time.AfterFunc(2*time.Second, c.close)
}

// maxChannels bounds the channels of a session, those in both directions together.
const maxChannels = 16

// hold makes ch end with the session, which does not end before it is released.
// It is false when the session has ended already, or has enough.
func (c *native) hold(ch channel) bool {
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
func (c *native) release(ch channel) {
	_ = ch.Reset()
	c.letGo(ch)
}

// retire ends a stream after what was written to it.
func (c *native) retire(ch channel) {
	if s, ok := ch.(interface{ CloseWrite() error }); ok {
		_ = s.CloseWrite()
	}
	time.AfterFunc(writeTimeout, func() { _ = ch.Reset() }) // if the peer does not take it
	c.letGo(ch)
}

func (c *native) letGo(ch channel) {
	c.channels.Lock()
	defer c.channels.Unlock()
	delete(c.channels.open, ch)
	c.channels.users.Done()
}

// errFlood ends the session of a peer that asks for too much at once.
var errFlood = errors.New("too many requests are waiting")

// read takes in messages until the stream ends.
func (c *native) read() error {
	r := bufio.NewReaderSize(c.stream, 16<<10)
	for {
		m, err := proto.ReadMessage(r)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *proto.Request:
			if !c.swarm.form.Valid(m.Span) {
				return errors.New("invalid request: no such block")
			}
			if !c.upload.Add(m.Span) {
				return errFlood
			}
		case *proto.Cancel:
			c.upload.Cancel(m.Span)
		case *proto.Bad:
			if doubt, ok := c.swarm.form.Complaint(c.session, m); ok {
				c.swarm.complain(doubt)
			}
		case *proto.Members:
			c.swarm.post(input{told: true, members: m.Members})
		case *proto.Goodbye:
			return &proto.RemoteError{Code: m.Code, Text: m.Text}
		default:
			c.received(m)
		}
	}
}

// write sends what is queued, as much as there is with each system call. The
// last message of a session that is dropped is its Goodbye.
func (c *native) write() {
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
func (c *native) batch(buf []byte, m proto.Message) (_ []byte, bye bool) {
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
