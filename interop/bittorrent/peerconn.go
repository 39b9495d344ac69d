package bittorrent

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
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
	remote     *remotePeer
	swarm      *swarm
	attachment *peer.Attachment
	ctx        context.Context // ends with the connection
	cancel     context.CancelCauseFunc

	// Safe for concurrent use.
	out      *sender
	requests *payload.Queue // of the client
	download *download

	// Owned by the reader.
	extended extendedHandshake // of the client
	joined   bool

	mu    sync.Mutex
	state peerState
}

func (s *swarm) newPeerConn(p *remotePeer) (*peerConn, error) {
	attachment, err := s.transfer.Attach()
	if err != nil {
		return nil, err
	}
	c := &peerConn{
		remote:     p,
		swarm:      s,
		attachment: attachment,
		requests:   payload.NewQueue(),
		download:   &download{limit: defaultReqq},
		state:      newPeerState(attachment.Pieces()),
	}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	c.out = &sender{conn: p, fast: p.extensions.SupportsFast(), cancel: c.cancel, ready: make(chan struct{}, 1)}
	return c, nil
}

// run runs the connection until it ends, and returns the reason.
func (c *peerConn) run() error {
	stop := context.AfterFunc(c.ctx, func() {
		_ = c.remote.Close()
		c.requests.Close()
	})
	defer stop()
	c.sendFirst()
	if err := c.out.write(c.out.take(nil)); err != nil { // immediately, so that another mob node recognizes this one
		c.cancel(err)
		return err
	}
	up := &upload{c.attachment, c.requests, c.out, &c.swarm.server.limiter}
	var wg sync.WaitGroup
	wg.Go(func() { c.cancel(c.out.loop(c.ctx)) })
	wg.Go(func() { c.cancel(up.loop(c.ctx)) })
	c.cancel(c.read())
	wg.Wait()
	c.discard(c.download.dropAll())
	err := context.Cause(c.ctx)
	if c.joined {
		c.attachment.Leave(err)
	}
	return err
}

func (c *peerConn) sendFirst() {
	if c.remote.extensions.SupportsExtended() {
		h := c.swarm.server.extendedHandshake(c.remote.addr)
		h.MetadataSize = len(c.swarm.torrent.Info())
		h.Mob = c.swarm.transfer.NodeID()
		c.out.send(pp.Extended, h.encode())
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
	case c.out.fast && have == 0:
		c.out.send(pp.HaveNone, nil)
	case c.out.fast && have == pieces:
		c.out.send(pp.HaveAll, nil)
	case have > 0:
		c.out.send(pp.Bitfield, encodeBitfield(c.state.local))
	}
	c.out.send(pp.Unchoke, nil)
}

func (c *peerConn) read() error {
	r := bufio.NewReaderSize(c.remote, 64<<10)
	if !c.remote.extensions.SupportsExtended() {
		c.join()
	}
	deadline := time.Now().Add(handshakeTimeout)
	for {
		if c.joined {
			deadline = time.Now().Add(idleTimeout)
		}
		_ = c.remote.SetReadDeadline(deadline)
		if err := c.readMessage(r); err != nil {
			return err
		}
	}
}

// join makes the client a peer of the swarm, after the extended handshake.
func (c *peerConn) join() {
	c.joined = true
	port := c.remote.addr.Port()
	if c.extended.Port > 0 && c.extended.Port < 1<<16 && !c.remote.dialed {
		port = uint16(c.extended.Port)
	}
	if c.extended.Reqq > 0 {
		c.download.setLimit(c.extended.Reqq)
	}
	c.attachment.Join(peer.ExternalPeerInfo{
		ID:      proto.PeerID("bt:" + string(c.remote.peerID[:])),
		Cluster: "bt:" + netip.AddrPortFrom(c.remote.addr.Addr(), port).String(),
		Client:  clientName(c.extended.V, c.remote.peerID),
		LAN:     slices.ContainsFunc(localNets(), func(p netip.Prefix) bool { return p.Contains(c.remote.addr.Addr()) }),
	}, c)
	all := []proto.Range{{Count: uint32(c.attachment.Pieces())}}
	c.attachment.Send(&proto.Want{Pieces: all})
	c.mu.Lock()
	available := c.state.available()
	c.mu.Unlock()
	c.attachment.Send(&proto.Have{Have: available})
}

// Receive implements [peer.ExternalPeer]: it translates a message for the client.
func (c *peerConn) Receive(m proto.Message) {
	switch m := m.(type) {
	case *proto.Have:
		c.sendHaves(m)
	case *proto.Request:
		c.download.add(m.Span)
		c.download.request(c.out.request)
	case *proto.Cancel:
		c.discard(c.download.cancel(m.Span, c.out.withdraw))
		c.download.request(c.out.request)
	case *proto.Bad:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.removeRemote(int(m.Piece))
	case *proto.Ping:
		rtt := max(transport.RTT(c.remote.Conn), c.download.replyTime())
		time.AfterFunc(rtt, func() { c.attachment.Send(&proto.Pong{Nonce: m.Nonce}) })
	}
}

// Close implements [peer.ExternalPeer].
func (c *peerConn) Close(code proto.Code, why string) {
	if code == proto.CodeBanned {
		c.swarm.ban(c.remote.addr.Addr())
	}
	c.cancel(errors.New(why))
}

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

// sendHaves sends the new pieces of the node. The protocol has no message for those that it lost.
func (c *peerConn) sendHaves(m *proto.Have) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range bitset.Numbers(m.Drop, c.attachment.Pieces()) {
		c.state.removeLocal(i)
	}
	for i := range bitset.Numbers(m.Have, c.attachment.Pieces()) {
		if c.state.addLocal(i) {
			c.out.send(pp.Have, nil, uint32(i))
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
		c.out.send(t, nil)
	}
	if c.state.bothSeeds() {
		c.cancel(errBothSeeds)
	}
}

// clientName returns the printable form of a client's name, or of the start of its peer
// id if it has none.
func clientName(name string, peerID [20]byte) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, cmp.Or(name, string(peerID[:8])))
	return name[:min(len(name), maxClientName)]
}

// errProtocol is wrapped by errors about clients that violate the protocol.
var errProtocol = errors.New("protocol")

func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errProtocol, fmt.Errorf(format, args...))
}
