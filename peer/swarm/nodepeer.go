package swarm

import (
	"bufio"
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/proto/reach"
)

const (
	// writeTimeout bounds the time that a peer may leave a message or a block unread.
	writeTimeout = 30 * time.Second
	// sendQueue bounds the queued messages for a peer that does not read.
	sendQueue = 4096
	// maxChannels bounds the bulk channels of a session, both directions together.
	maxChannels = 16
	// maxBatch is about the number of bytes of messages in one write.
	maxBatch = 64 << 10
)

// nodePeer is the connection to a node: a control stream, and bulk channels for blocks.
type nodePeer struct {
	*session
	// Constant.
	peer    libpeer.ID
	hello   *proto.Hello // of the peer
	stream  network.Stream
	out     outbox
	uploads *payload.Queue
	flows   *flows
	route   *route
	ctx     context.Context // ends with the session
	cancel  context.CancelFunc

	channels struct {
		sync.Mutex
		closed bool
		open   map[Channel]segments // that eachSocket has counted
		users  sync.WaitGroup
	}
}

// newNodePeer returns a session with the node that sent hello. dialer opened the stream.
func newNodePeer(s *Swarm, stream network.Stream, hello *proto.Hello, dialer proto.PeerID) *session {
	id := stream.Conn().RemotePeer()
	c := &nodePeer{
		peer:    id,
		hello:   hello,
		stream:  stream,
		out:     outbox{more: newToken()},
		uploads: payload.NewQueue(),
		flows:   newFlows(),
		route:   s.routes.of(hello.Cluster),
	}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.channels.open = map[Channel]segments{}
	shared := proto.SharedParts(s.cfg.Cluster, hello.Cluster)
	c.session = &session{
		swarm:   s,
		node:    mob.Node{ID: proto.PeerID(id), Cluster: hello.Cluster},
		name:    id.String(),
		seed:    hello.Seed,
		named:   s.cfg.Plan != nil && hello.Features&proto.FeatureHosts != 0,
		shared:  shared,
		local:   shared > 0,
		dialer:  dialer,
		addrs:   reach.FromPeer(hello.Addrs, c.remoteIP()),
		conn:    c,
		pending: payload.NewPending(),
		source:  s.sources.of(hello.Cluster),
		host:    quota.Host(c.remoteIP()),
	}
	context.AfterFunc(c.ctx, c.release) // also when the swarm ends before the session joins
	return c.session
}

func (c *nodePeer) start() {
	c.swarm.wg.Go(func() {
		err := c.read()
		c.close()
		c.release() // no channel is added from here on
		c.channels.users.Wait()
		c.ended(err)
	})
	c.swarm.wg.Go(c.write)
	c.swarm.wg.Go(c.serve)
}

// send implements conn. A peer whose outbox is full is dropped.
func (c *nodePeer) send(m proto.Message) {
	if c.ctx.Err() == nil && !c.out.add(m) {
		c.close()
	}
}

// close implements conn. It leaves the streams to release: a reset waits if the connection is stuck.
func (c *nodePeer) close() { c.cancel() }

// release resets the streams and sockets of a session that has ended.
func (c *nodePeer) release() {
	c.uploads.Close()
	c.flows.close()
	c.channels.Lock()
	c.channels.closed = true
	open := maps.Clone(c.channels.open)
	c.channels.Unlock()
	_ = c.stream.Reset()
	for ch := range open {
		_ = ch.Reset()
	}
}

func (c *nodePeer) reject(code proto.Code, why string) {
	c.swarm.wg.Go(c.write)
	c.closeWithError(code, why)
}

func (c *nodePeer) closeWithError(code proto.Code, why string) {
	c.send(&proto.Goodbye{Code: code, Text: why})
	time.AfterFunc(2*time.Second, c.close)
}

// addChannel makes a channel end with the session, which does not end before the channel is
// closed. It reports false if the session has ended, or has enough channels.
func (c *nodePeer) addChannel(ch Channel) bool {
	c.channels.Lock()
	defer c.channels.Unlock()
	if c.channels.closed || len(c.channels.open) >= maxChannels {
		return false
	}
	c.channels.open[ch] = segments{}
	c.channels.users.Add(1)
	return true
}

func (c *nodePeer) closeChannel(ch Channel) {
	_ = ch.Reset()
	c.removeChannel(ch)
}

// retireChannel ends a channel after the peer has read what was written to it.
func (c *nodePeer) retireChannel(ch Channel) {
	if s, ok := ch.(interface{ CloseWrite() error }); ok {
		_ = s.CloseWrite()
	}
	time.AfterFunc(writeTimeout, func() { _ = ch.Reset() }) // if the peer does not read it
	c.removeChannel(ch)
}

func (c *nodePeer) removeChannel(ch Channel) {
	c.channels.Lock()
	defer c.channels.Unlock()
	delete(c.channels.open, ch)
	c.channels.users.Done()
}

// errFlood ends the session of a peer with too many outstanding requests.
var errFlood = errors.New("too many pending requests")

func (c *nodePeer) read() error {
	r := bufio.NewReaderSize(c.stream, 16<<10)
	for {
		m, err := proto.ReadMessage(r)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *proto.Request:
			if !c.swarm.codec.Valid(m.Span) {
				return errors.New("invalid request: no such block")
			}
			if !c.uploads.Add(m.Span) {
				return errFlood
			}
		case *proto.Cancel:
			c.uploads.Cancel(m.Span)
		case *proto.Bad:
			if !c.swarm.coding.Coded() { // the encoder of a coded block is at fault
				c.swarm.Suspect(payload.Suspicion{Peer: c.session, ByPeer: true, Piece: m.Piece, Number: m.Piece})
			}
			c.received(m)
		case *proto.Demand:
			if c.local && c.swarm.cfg.Sharing != nil {
				c.swarm.cfg.Sharing.Hear(c.ID(), m)
			}
		case *proto.Members:
			c.received(m)
			c.swarm.post(func() { c.swarm.onUnverified(c, unnamed(m.Members)) })
		case *proto.Hosts:
			c.received(m)
			c.receiveHosts(m.Hosts)
		case *proto.Goodbye:
			return (*proto.RemoteError)(m)
		default:
			c.received(m)
		}
	}
}

// write sends queued messages, a batch with each system call. It ends after a Goodbye.
func (c *nodePeer) write() {
	var buf []byte
	var sent []proto.Message
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.out.more:
		}
		sent = c.out.take(sent)
		for rest := sent; len(rest) > 0; {
			var bye bool
			buf, rest, bye = c.batch(buf[:0], rest)
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
		clear(sent)
	}
}

// batch appends the frames of messages, up to a Goodbye, and returns the messages of the next batch.
func (c *nodePeer) batch(buf []byte, queue []proto.Message) (_ []byte, rest []proto.Message, bye bool) {
	for i, m := range queue {
		var err error
		buf, err = proto.AppendFrame(buf, m)
		if err != nil {
			c.swarm.log.Error("message dropped", "peer", c.peer, "error", err)
		}
		_, bye = m.(*proto.Goodbye)
		if bye || len(buf) >= maxBatch {
			return buf, queue[i+1:], bye
		}
	}
	return buf, nil, false
}
