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

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

const (
	// handshakeTimeout bounds what comes before the first message.
	handshakeTimeout = 10 * time.Second
	// writeTimeout is how long a guest may leave what was sent to it unread.
	writeTimeout = 30 * time.Second
	// idleTimeout is how long a guest may say nothing, and keepAliveEvery how long the
	// node says nothing.
	idleTimeout    = 3 * time.Minute
	keepAliveEvery = 100 * time.Second
	// assumedQueue is how many requests a guest takes at a time that does not say.
	assumedQueue = 250
	// ownQueue is how many requests guests are told that the node takes.
	ownQueue = 2000
)

// guest is a connection to a stock client, after the handshakes. Three goroutines
// work on it: one reads, one writes messages, and one serves requests.
type guest struct {
	// Constant.
	swarm  *swarm
	conn   net.Conn
	at     netip.AddrPort
	dialed bool
	theirs handshake
	seat   *peer.Attachment
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc

	// Safe for concurrent use.
	out      *outbox
	upload   *payload.Queue
	download *download
	writing  sync.Mutex // held for a write to conn

	// Owned by the reader.
	said    extended // what it said of itself
	unasked int
	joined  bool

	// mu guards who has what.
	mu   sync.Mutex
	view view
}

// newGuest is a guest whose handshake has come.
func (s *swarm) newGuest(conn net.Conn, at netip.AddrPort, theirs handshake, dialed bool) (*guest, error) {
	seat, err := s.transfer.Attach()
	if err != nil {
		return nil, err
	}
	g := &guest{swarm: s, conn: conn, at: at, dialed: dialed, theirs: theirs, seat: seat,
		out: newOutbox(), upload: payload.NewQueue(), download: &download{most: assumedQueue}}
	g.ctx, g.cancel = context.WithCancelCause(s.ctx)
	g.view = newView(seat.Pieces())
	return g, nil
}

// run carries on the conversation until it ends, and returns why it did.
func (g *guest) run() error {
	stop := context.AfterFunc(g.ctx, func() {
		_ = g.conn.Close()
		g.upload.Close()
	})
	defer stop()
	g.open()
	if err := g.write(g.out.take(nil)); err != nil { // at once, so that another node hears that this is one
		return err
	}
	var wg sync.WaitGroup
	wg.Go(g.send)
	wg.Go(g.serve)
	err := g.read()
	g.fail(err)
	wg.Wait()
	g.waste(g.download.clear())
	err = context.Cause(g.ctx)
	if g.joined {
		g.seat.Leave(err)
	}
	return err
}

// fail ends the connection from any goroutine, at once. The first reason counts.
func (g *guest) fail(why error) { g.cancel(why) }

// open says what comes before everything else: what the node is, and has.
func (g *guest) open() {
	if g.theirs.bits.SupportsExtended() {
		g.tell(pp.Extended, g.swarm.server.introduction(g.at, len(g.swarm.torrent.Info()), g.swarm.transfer.NodeID()))
	}
	g.mu.Lock()
	have := g.view.begin(g.seat.Has)
	g.mu.Unlock()
	switch {
	case g.fast() && have == 0:
		g.tell(pp.HaveNone, nil)
	case g.fast() && have == g.seat.Pieces():
		g.tell(pp.HaveAll, nil)
	case have > 0:
		g.tell(pp.Bitfield, g.view.ours.bytes())
	}
	g.tell(pp.Unchoke, nil)
}

func (g *guest) fast() bool { return g.theirs.bits.SupportsFast() }

// tell queues a message.
func (g *guest) tell(t pp.MessageType, payload []byte, fields ...uint32) {
	if !g.out.put(t, payload, fields...) {
		g.fail(errors.New("it does not read what it is sent"))
	}
}

// send writes what is queued.
func (g *guest) send() {
	idle := time.NewTimer(keepAliveEvery)
	defer idle.Stop()
	var buf []byte
	for {
		select {
		case <-g.out.ready:
		case <-idle.C:
			g.out.keepAlive()
		case <-g.ctx.Done():
			return
		}
		buf = g.out.take(buf)
		if len(buf) == 0 {
			continue
		}
		if err := g.write(buf); err != nil {
			g.fail(err)
			return
		}
		idle.Reset(keepAliveEvery)
	}
}

// read takes in messages until the connection ends.
func (g *guest) read() error {
	r := bufio.NewReaderSize(g.conn, 64<<10)
	if !g.theirs.bits.SupportsExtended() {
		if err := g.join(); err != nil {
			return err
		}
	}
	for {
		timeout := idleTimeout
		if !g.joined {
			timeout = handshakeTimeout
		}
		_ = g.conn.SetReadDeadline(time.Now().Add(timeout))
		if err := g.readMessage(r); err != nil {
			return err
		}
	}
}

// join makes the guest a peer of the swarm, once it has said who it is.
func (g *guest) join() error {
	if err := g.swarm.admit(g.theirs.id, g.at.Addr(), g.dialed); err != nil {
		return err
	}
	g.joined = true
	port := g.at.Port()
	if g.said.Port > 0 && g.said.Port < 1<<16 && !g.dialed {
		port = uint16(g.said.Port)
	}
	if g.said.Reqq > 0 {
		g.download.limit(g.said.Reqq)
	}
	g.seat.Join(peer.ExternalPeerInfo{
		ID:      proto.PeerID("bt:" + string(g.theirs.id[:])),
		Cluster: "bt:" + netip.AddrPortFrom(g.at.Addr(), port).String(),
		Client:  clientName(g.said.Client, g.theirs.id),
		LAN:     g.swarm.server.nearby.has(g.at.Addr()),
	}, g)
	all := []proto.Range{{Count: uint32(g.seat.Pieces())}}
	g.seat.Send(&proto.Want{Pieces: all})
	g.mu.Lock()
	has := g.view.offered()
	g.mu.Unlock()
	g.seat.Send(&proto.Have{Have: has})
	return nil
}

// Receive implements [peer.ExternalPeer]: what the swarm says goes to the client.
func (g *guest) Receive(m proto.Message) {
	switch m := m.(type) {
	case *proto.Have:
		g.tellHave(m.Have)
	case *proto.Request:
		g.download.add(m.Span)
		g.ask()
	case *proto.Cancel:
		g.waste(g.download.cancel(m.Span, func(c proto.Span) { g.tell(pp.Cancel, nil, c.Piece, c.Begin, c.Length) }))
		g.ask()
	case *proto.Bad:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.view.bad(m.Piece)
	case *proto.Ping:
		time.AfterFunc(max(transport.RTT(g.conn), g.download.replyTime()), func() { g.seat.Send(&proto.Pong{Nonce: m.Nonce}) })
	}
}

// Close implements [peer.ExternalPeer].
func (g *guest) Close(code proto.Code, why string) {
	if code == proto.CodeBanned {
		g.swarm.ban(g.at.Addr())
	}
	g.fail(errors.New(why))
}

// waste lets go of spans that were taken back.
func (g *guest) waste(gone []lost) {
	for _, l := range gone {
		if l.bytes > 0 {
			g.seat.Wasted(l.bytes)
		}
		if l.buf != nil {
			g.seat.Release(l.buf)
		}
	}
}

// ask sends the requests for which there is room.
func (g *guest) ask() {
	g.download.ask(func(c proto.Span) { g.tell(pp.Request, nil, c.Piece, c.Begin, c.Length) })
}

// tellHave tells of pieces that the client does not know of.
func (g *guest) tellHave(rs []proto.Range) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range rs {
		for i := r.First; i < min(uint32(r.End()), uint32(g.seat.Pieces())); i++ {
			if g.view.got(i) {
				g.tell(pp.Have, nil, i)
			}
		}
	}
	g.interest()
}

// interest tells the client whether it has anything that the node lacks, when that
// has changed. Those that both have everything part. The caller has the lock.
func (g *guest) interest() {
	if want := g.view.lack > 0; want != g.view.interested {
		g.view.interested = want
		t := pp.NotInterested
		if want {
			t = pp.Interested
		}
		g.tell(t, nil)
	}
	if g.view.bothWhole() {
		g.fail(errBothWhole)
	}
}

// reject refuses a request, as far as the client has a word for that.
func (g *guest) reject(c proto.Span) {
	if g.fast() {
		g.tell(pp.Reject, nil, c.Piece, c.Begin, c.Length)
	}
}

// clientName is what a client calls itself, or the beginning of its id.
func clientName(said string, id [20]byte) string {
	if said == "" {
		said = string(id[:8])
	}
	name := make([]rune, 0, maxClient)
	for _, r := range said {
		if len(name) == maxClient {
			break
		}
		if r < ' ' || r > '~' {
			r = '?'
		}
		name = append(name, r)
	}
	return string(name)
}

// errProtocol is in the chain of every error that says that a client does not keep to
// the protocol.
var errProtocol = errors.New("protocol")

// protocolError says that a client does not keep to the protocol, and how.
func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errProtocol, fmt.Errorf(format, args...))
}
