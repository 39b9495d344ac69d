package peer

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/book"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

const (
	// directTimeout bounds the dial of a direct socket at one address, and
	// directWait is how long the first block waits for one before it goes over a
	// stream: as long as a near peer's takes.
	directTimeout = 4 * time.Second
	directWait    = 20 * time.Millisecond
	// directEvery is how often a direct path is looked for again, blocks going over
	// a stream meanwhile.
	directEvery = 2 * time.Minute
)

// channel is a one-way path for blocks between two nodes: a socket of its own,
// or a libp2p stream where none can be had. The blocks are the same on both.
type channel interface {
	io.ReadWriter
	// SetWriteDeadline and SetReadDeadline bound calls, begun ones included.
	SetWriteDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	// Reset ends the channel at once, from any goroutine.
	Reset() error
}

// paths is how a node judges its paths to others; tests judge otherwise.
type paths struct {
	rtt   func(*transport.Conn) time.Duration
	again time.Duration // directEvery
}

// acceptBulk hands every channel that others open to f, in its own goroutine.
func acceptBulk(h host.Host, e *transport.Endpoint, f func(from libpeer.ID, c channel)) {
	h.SetStreamHandler(proto.BulkProtocol, func(s network.Stream) { f(s.Conn().RemotePeer(), s) })
	connected := func(id libpeer.ID) bool { return h.Network().Connectedness(id) == network.Connected }
	e.Handle(connected, func(from libpeer.ID, c *transport.Conn) { f(from, c) })
}

// openDirect dials a socket to the peer, which ends with the session.
func (c *native) openDirect() (*transport.Conn, error) {
	err := errors.New("no address is known")
	for _, at := range c.directAddrs() {
		var ch *transport.Conn
		ctx, cancel := context.WithTimeout(c.ctx, directTimeout)
		if ch, err = c.swarm.node.bulk.Dial(ctx, c.peer, at); err == nil {
			err = c.greet(ch)
		}
		cancel()
		if err == nil {
			return ch, nil
		}
	}
	return nil, err
}

// directAddrs lists where the peer may be reached: where it was, if it did not
// come itself, and otherwise where it and others say that it is.
func (c *native) directAddrs() []ma.Multiaddr {
	conn := c.stream.Conn()
	if conn.Stat().Direction == network.DirOutbound {
		return []ma.Multiaddr{conn.RemoteMultiaddr()}
	}
	if said := transport.ParseAddrs(c.hello.Addrs[:min(len(c.hello.Addrs), book.MaxAddrs)]); len(said) > 0 {
		return said
	}
	known := c.swarm.node.host.Peerstore().Addrs(c.peer)
	return known[:min(len(known), book.MaxAddrs)]
}

// openStream opens a stream to the peer over the connection that there is. It
// ends with the session.
func (c *native) openStream() (channel, error) {
	ctx := network.WithNoDial(c.ctx, "the control stream is gone")
	ch, err := c.swarm.node.host.NewStream(ctx, c.peer, proto.BulkProtocol)
	if err != nil {
		return nil, err
	}
	if err := c.greet(ch); err != nil {
		return nil, err
	}
	return ch, nil
}

// greet makes a channel one of the session's, or ends it.
func (c *native) greet(ch channel) error {
	if !c.hold(ch) {
		_ = ch.Reset()
		return errors.New("the session has ended")
	}
	_ = ch.SetWriteDeadline(time.Now().Add(writeTimeout))
	err := proto.WriteMessage(ch, &proto.BulkHello{Swarm: c.hello.Swarm})
	if err != nil {
		c.release(ch)
	}
	return err
}
