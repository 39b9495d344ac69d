package swarm

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

const (
	// directTimeout bounds the dial of a bulk socket at one address, and directWait the time
	// that the first block waits for one before it is sent over a stream.
	directTimeout = 4 * time.Second
	directWait    = 20 * time.Millisecond
	// directRetry is the pause before a bulk socket is dialed again, while blocks go over
	// a stream.
	directRetry = 2 * time.Minute
	// directWorth is the least length of content in bytes that bulk sockets are dialed for. Shorter
	// content is in flight over a stream before the handshakes end.
	directWorth = 256 << 10
	// localWorth is the number of bytes sent to a local peer over a stream before a bulk socket is dialed. A
	// stream takes more CPU for them than a socket, about as much more as a handshake.
	localWorth = 1 << 20
)

// Channel is a one-way path for blocks between two nodes: a bulk socket, or a libp2p stream
// where no socket can be opened. The frames are the same on both.
type Channel interface {
	io.ReadWriter
	// SetWriteDeadline and SetReadDeadline bound calls, pending ones included.
	SetWriteDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	// Reset ends the channel immediately, from any goroutine.
	Reset() error
}

// AcceptBulk receives the blocks of a channel that a peer opened for this swarm, until it
// ends. The caller has read the BulkHello, and resets the channel.
func (s *Swarm) AcceptBulk(from libpeer.ID, ch Channel) {
	c := s.nodePeer(proto.PeerID(from))
	if c == nil || !c.addChannel(ch) {
		return
	}
	defer c.closeChannel(ch)
	_ = ch.SetReadDeadline(time.Time{})
	in := &transport.Reader{Reader: ch}
	if err := c.receive(in); !in.Broken {
		s.log.Debug("bulk channel ended", "peer", c.peer, "error", err)
		c.close()
	}
}

// openDirect dials a bulk socket to the peer, which ends with the session.
func (c *nodePeer) openDirect() (*transport.Conn, error) {
	err := errors.New("no address is known")
	for _, at := range c.directAddrs() {
		var ch *transport.Conn
		ctx, cancel := context.WithTimeout(c.ctx, directTimeout)
		ch, err = c.swarm.cfg.Bulk.Dial(ctx, c.peer, at)
		if err == nil {
			err = c.handshake(ch)
		}
		cancel()
		if err == nil {
			return ch, nil
		}
	}
	return nil, err
}

// directAddrs lists the addresses for bulk sockets to the peer: the address of the connection if
// this node opened it, else the advertised ones.
func (c *nodePeer) directAddrs() []ma.Multiaddr {
	conn := c.stream.Conn()
	if conn.Stat().Direction == network.DirOutbound {
		return []ma.Multiaddr{conn.RemoteMultiaddr()}
	}
	advertised := transport.ParseAddrs(c.addrs[:min(len(c.addrs), maxAddrs)])
	if len(advertised) > 0 {
		return advertised
	}
	known := c.swarm.cfg.Host.Peerstore().Addrs(c.peer)
	return known[:min(len(known), maxAddrs)]
}

// openStream opens a stream to the peer over the connection of the session. It ends with
// the session.
func (c *nodePeer) openStream() (Channel, error) {
	ctx := network.WithNoDial(c.ctx, "the control stream has ended")
	ch, err := transport.OpenStream(ctx, c.swarm.cfg.Host, libpeer.AddrInfo{ID: c.peer}, proto.BulkProtocol)
	if err != nil {
		return nil, err
	}
	if err := c.handshake(ch); err != nil {
		return nil, err
	}
	return ch, nil
}

// handshake adds a channel to the session, or resets it.
func (c *nodePeer) handshake(ch Channel) error {
	if !c.addChannel(ch) {
		_ = ch.Reset()
		return errEnded
	}
	_ = ch.SetWriteDeadline(time.Now().Add(writeTimeout))
	err := proto.WriteMessage(ch, &proto.BulkHello{Swarm: c.hello.Swarm})
	if err != nil {
		c.closeChannel(ch)
	}
	return err
}
