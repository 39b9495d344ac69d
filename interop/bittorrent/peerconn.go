package bittorrent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

const (
	// writeTimeout bounds one write.
	writeTimeout = 30 * time.Second
	// idleTimeout bounds the time without messages from a client, and keepAliveInterval
	// the time without messages to it.
	idleTimeout       = 3 * time.Minute
	keepAliveInterval = 100 * time.Second
	// defaultReqq is the assumed queue length of a client that does not report it, and
	// ownReqq the node's (BEP 10), in requests.
	defaultReqq = 250
	ownReqq     = 2000
)

// peerConn is the connection to a client, after the handshakes. Three goroutines run
// it: one reads, one writes messages, and one serves requests.
type peerConn struct {
	// Constant.
	swarm      *swarm
	conn       net.Conn
	addr       netip.AddrPort
	dialed     bool
	remote     handshake
	attachment *peer.Attachment
	ctx        context.Context // ends with the connection
	cancel     context.CancelCauseFunc

	// Safe for concurrent use.
	out      *sendBuffer
	requests *payload.Queue // of the client
	download *download
	writeMu  sync.Mutex // held during a write, which must not mix with another

	// Owned by the reader.
	extended    extendedHandshake // of the client
	unrequested int
	joined      bool

	mu    sync.Mutex
	state peerState
}

func (s *swarm) newPeerConn(conn net.Conn, addr netip.AddrPort, remote handshake, dialed bool) (*peerConn, error) {
	attachment, err := s.transfer.Attach()
	if err != nil {
		return nil, err
	}
	c := &peerConn{
		swarm:      s,
		conn:       conn,
		addr:       addr,
		dialed:     dialed,
		remote:     remote,
		attachment: attachment,
		out:        newSendBuffer(),
		requests:   payload.NewQueue(),
		download:   &download{limit: defaultReqq},
		state:      newPeerState(attachment.Pieces()),
	}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	return c, nil
}

// run runs the connection until it ends, and returns the reason.
func (c *peerConn) run() error {
	stop := context.AfterFunc(c.ctx, func() {
		_ = c.conn.Close()
		c.requests.Close()
	})
	defer stop()
	c.sendFirst()
	if err := c.write(c.out.take(nil)); err != nil { // immediately, so that another mob node recognizes this one
		c.cancel(err)
		return err
	}
	var wg sync.WaitGroup
	wg.Go(c.writeLoop)
	wg.Go(c.serveLoop)
	c.cancel(c.read())
	wg.Wait()
	c.discard(c.download.dropAll())
	err := context.Cause(c.ctx)
	if c.joined {
		c.attachment.Leave(err)
		c.swarm.remove(c.remote.peerID)
	}
	return err
}

// sendFirst sends the extended handshake and the pieces of the node.
func (c *peerConn) sendFirst() {
	if c.remote.extensions.SupportsExtended() {
		h := c.swarm.server.extendedHandshake(c.addr)
		h.MetadataSize = len(c.swarm.torrent.Info())
		h.Mob = c.swarm.transfer.NodeID()
		c.send(pp.Extended, h.encode())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pieces := c.attachment.Pieces()
	for i := range pieces {
		if c.attachment.Has(uint32(i)) {
			c.state.addLocal(i)
		}
	}
	switch have := c.state.local.Len(); {
	case c.supportsFast() && have == 0:
		c.send(pp.HaveNone, nil)
	case c.supportsFast() && have == pieces:
		c.send(pp.HaveAll, nil)
	case have > 0:
		c.send(pp.Bitfield, encodeBitfield(c.state.local))
	}
	c.send(pp.Unchoke, nil)
}

func (c *peerConn) supportsFast() bool { return c.remote.extensions.SupportsFast() }

// send queues a message. It does not block.
func (c *peerConn) send(t pp.MessageType, payload []byte, fields ...uint32) {
	if !c.out.add(t, payload, fields...) {
		c.cancel(errNotReading)
	}
}

func (c *peerConn) sendRequest(s proto.Span) { c.send(pp.Request, nil, s.Piece, s.Begin, s.Length) }

func (c *peerConn) sendCancel(s proto.Span) { c.send(pp.Cancel, nil, s.Piece, s.Begin, s.Length) }

// sendReject rejects a request, if the client supports that (BEP 6).
func (c *peerConn) sendReject(s proto.Span) {
	if c.supportsFast() {
		c.send(pp.Reject, nil, s.Piece, s.Begin, s.Length)
	}
}

// writeLoop writes queued messages.
func (c *peerConn) writeLoop() {
	keepAlive := time.NewTimer(keepAliveInterval)
	defer keepAlive.Stop()
	var buf []byte
	for {
		select {
		case <-c.out.ready:
		case <-keepAlive.C:
			c.out.addKeepAlive()
		case <-c.ctx.Done():
			return
		}
		buf = c.out.take(buf)
		if len(buf) == 0 {
			continue
		}
		if err := c.write(buf); err != nil {
			c.cancel(err)
			return
		}
		keepAlive.Reset(keepAliveInterval)
	}
}

// write writes whole messages.
func (c *peerConn) write(b []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := c.conn.Write(b)
	return err
}

// read reads messages until the connection ends.
func (c *peerConn) read() error {
	r := bufio.NewReaderSize(c.conn, 64<<10)
	if !c.remote.extensions.SupportsExtended() {
		if err := c.join(); err != nil {
			return err
		}
	}
	for {
		timeout := idleTimeout
		if !c.joined {
			timeout = handshakeTimeout
		}
		_ = c.conn.SetReadDeadline(time.Now().Add(timeout))
		if err := c.readMessage(r); err != nil {
			return err
		}
	}
}

// join makes the client a peer of the swarm, after the extended handshake.
func (c *peerConn) join() error {
	if err := c.swarm.add(c.remote.peerID, c.addr.Addr(), c.dialed); err != nil {
		return err
	}
	c.joined = true
	port := c.addr.Port()
	if c.extended.Port > 0 && c.extended.Port < 1<<16 && !c.dialed {
		port = uint16(c.extended.Port)
	}
	if c.extended.Reqq > 0 {
		c.download.setLimit(c.extended.Reqq)
	}
	c.attachment.Join(peer.ExternalPeerInfo{
		ID:      proto.PeerID("bt:" + string(c.remote.peerID[:])),
		Cluster: "bt:" + netip.AddrPortFrom(c.addr.Addr(), port).String(),
		Client:  clientName(c.extended.V, c.remote.peerID),
		LAN:     c.swarm.server.localNets.contains(c.addr.Addr()),
	}, c)
	all := []proto.Range{{Count: uint32(c.attachment.Pieces())}}
	c.attachment.Send(&proto.Want{Pieces: all})
	c.mu.Lock()
	available := c.state.available()
	c.mu.Unlock()
	c.attachment.Send(&proto.Have{Have: available})
	return nil
}

// Receive implements [peer.ExternalPeer]: it translates a message for the client.
func (c *peerConn) Receive(m proto.Message) {
	switch m := m.(type) {
	case *proto.Have:
		c.sendHaves(m.Have)
	case *proto.Request:
		c.download.add(m.Span)
		c.download.request(c.sendRequest)
	case *proto.Cancel:
		c.discard(c.download.cancel(m.Span, c.sendCancel))
		c.download.request(c.sendRequest)
	case *proto.Bad:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.removeRemote(int(m.Piece))
	case *proto.Ping:
		rtt := max(transport.RTT(c.conn), c.download.replyTime())
		time.AfterFunc(rtt, func() { c.attachment.Send(&proto.Pong{Nonce: m.Nonce}) })
	}
}

// Close implements [peer.ExternalPeer].
func (c *peerConn) Close(code proto.Code, why string) {
	if code == proto.CodeBanned {
		c.swarm.ban(c.addr.Addr())
	}
	c.cancel(errors.New(why))
}

// discard releases the buffers of dropped spans.
func (c *peerConn) discard(spans []dropped) {
	for _, d := range spans {
		if d.bytes > 0 {
			c.attachment.Wasted(d.bytes)
		}
		if d.buf != nil {
			d.buf.Release()
		}
	}
}

// sendHaves announces the pieces that are new to the client.
func (c *peerConn) sendHaves(pieces []proto.Range) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range bitset.Numbers(pieces, c.attachment.Pieces()) {
		if c.state.addLocal(i) {
			c.send(pp.Have, nil, uint32(i))
		}
	}
	c.updateInterest()
}

// updateInterest sends interested or not interested if it changed. It closes a
// connection between two seeds. The caller holds mu.
func (c *peerConn) updateInterest() {
	if interested := c.state.missing > 0; interested != c.state.interested {
		c.state.interested = interested
		t := pp.NotInterested
		if interested {
			t = pp.Interested
		}
		c.send(t, nil)
	}
	if c.state.bothSeeds() {
		c.cancel(errBothSeeds)
	}
}

// clientName returns the printable form of a client's name, or of the start of its peer
// id if it has none.
func clientName(name string, peerID [20]byte) string {
	if name == "" {
		name = string(peerID[:8])
	}
	out := make([]rune, 0, maxClientName)
	for _, r := range name {
		if len(out) == maxClientName {
			break
		}
		if r < ' ' || r > '~' {
			r = '?'
		}
		out = append(out, r)
	}
	return string(out)
}

// errProtocol is wrapped by errors about clients that violate the protocol.
var errProtocol = errors.New("protocol")

func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errProtocol, fmt.Errorf(format, args...))
}
