package bittorrent

import (
	"bufio"
	"encoding/binary"
	"io"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// readHead reads what precedes a message's payload: its type, and how many bytes of
// payload follow, -1 when it is a keep-alive, which has no type.
func readHead(r *bufio.Reader) (t pp.MessageType, n int64, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return 0, 0, err
	}
	n = int64(binary.BigEndian.Uint32(head[:])) - 1
	if n < 0 {
		return 0, n, nil
	}
	_, err = io.ReadFull(r, head[4:])
	return pp.MessageType(head[4]), n, err
}

// readExtended reads an extended message.
func readExtended(r *bufio.Reader, n int64) ([]byte, error) {
	if n == 0 || n > maxExtended {
		return nil, protocolError("extended message of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// readMessage reads one message and does what it says.
func (g *guest) readMessage(r *bufio.Reader) error {
	t, n, err := readHead(r)
	if err != nil || n < 0 {
		return err
	}
	switch t {
	case pp.Piece:
		return g.readPiece(r, n)
	case pp.Bitfield:
		return g.readBitfield(r, n)
	case pp.Extended:
		b, err := readExtended(r, n)
		if err != nil {
			return err
		}
		return g.extended(b)
	}
	return g.readSmall(r, t, n)
}

// fieldsOf is how many 32-bit fields a message has, -1 when it is not known.
func fieldsOf(t pp.MessageType) int {
	switch t {
	case pp.Choke, pp.Unchoke, pp.Interested, pp.NotInterested, pp.HaveAll, pp.HaveNone:
		return 0
	case pp.Have, pp.Suggest, pp.AllowedFast:
		return 1
	case pp.Request, pp.Cancel, pp.Reject:
		return 3
	}
	return -1
}

// maxUnknown bounds a message of a type that is not known, which is passed over.
const maxUnknown = 64 << 10

func (g *guest) readSmall(r *bufio.Reader, t pp.MessageType, n int64) error {
	fields := fieldsOf(t)
	if fields < 0 {
		if n > maxUnknown {
			return protocolError("message of type %d and %d bytes", t, n)
		}
		_, err := r.Discard(int(n))
		return err
	}
	if n != int64(4*fields) {
		return protocolError("message of type %d has %d bytes", t, n)
	}
	var b [12]byte
	if _, err := io.ReadFull(r, b[:n]); err != nil {
		return err
	}
	c := proto.Span{Piece: binary.BigEndian.Uint32(b[:]), Begin: binary.BigEndian.Uint32(b[4:]), Length: binary.BigEndian.Uint32(b[8:])}
	return g.heard(t, c)
}

// heard does what a message says that has no more than numbers.
func (g *guest) heard(t pp.MessageType, c proto.Span) error {
	switch t {
	case pp.Have:
		return g.heardHave(c.Piece)
	case pp.HaveAll, pp.HaveNone:
		if t == pp.HaveAll {
			return g.heardBitfield(nil)
		}
	case pp.Choke:
		g.choked()
	case pp.Unchoke:
		g.unchoked()
	case pp.Request:
		return g.requested(c)
	case pp.Cancel:
		g.upload.Cancel(c)
	case pp.Reject:
		g.giveBack(g.download.refused(c))
		g.ask()
	}
	return nil
}

// requested queues a request, if it can be honoured.
func (g *guest) requested(c proto.Span) error {
	switch {
	case int64(c.Piece) >= int64(g.seat.Pieces()) || c.Length == 0 || c.Length > maxRequest ||
		uint64(c.Begin)+uint64(c.Length) > uint64(g.seat.Size(c.Piece)):
		return protocolError("request of %d bytes from %d on of piece %d", c.Length, c.Begin, c.Piece)
	case !g.joined || !g.seat.Has(c.Piece):
		g.reject(c)
	case !g.upload.Add(c):
		return protocolError("too many requests are waiting")
	}
	return nil
}

func (g *guest) heardHave(i uint32) error {
	if int64(i) >= int64(g.seat.Pieces()) {
		return protocolError("have of piece %d", i)
	}
	g.mu.Lock()
	news := g.view.has(i) && g.view.unchoked
	g.interest()
	g.mu.Unlock()
	if news {
		g.say(&proto.Have{Have: []proto.Range{{First: i, Count: 1}}})
	}
	return nil
}

// readBitfield reads what the guest has.
func (g *guest) readBitfield(r *bufio.Reader, n int64) error {
	b := newBitfield(g.seat.Pieces())
	if n != int64(len(b.b)) {
		return protocolError("bitfield of %d bytes for %d pieces", n, b.n)
	}
	if _, err := io.ReadFull(r, b.b); err != nil {
		return err
	}
	return g.heardBitfield(b.b)
}

// heardBitfield notes what the guest has; nil is everything.
func (g *guest) heardBitfield(b []byte) error {
	said := bitfield{b, g.seat.Pieces()}
	g.mu.Lock()
	for i := range uint32(said.n) {
		if b == nil || said.has(i) {
			g.view.has(i)
		}
	}
	g.interest()
	has := g.view.offered()
	g.mu.Unlock()
	if len(has) > 0 {
		g.say(&proto.Have{Have: has})
	}
	return nil
}

// choked gives back what the guest was asked for: it will not come.
func (g *guest) choked() {
	g.mu.Lock()
	was := g.view.unchoked
	g.view.unchoked = false
	g.mu.Unlock()
	if !was {
		return
	}
	g.giveBack(g.download.clear())
	g.say(&proto.Have{Drop: []proto.Range{{Count: uint32(g.seat.Pieces())}}})
}

// giveBack tells the swarm of spans that will not come.
func (g *guest) giveBack(gone []lost) {
	g.waste(gone)
	for _, l := range gone {
		g.say(&proto.Reject{Span: l.span})
	}
}

func (g *guest) unchoked() {
	g.mu.Lock()
	news := !g.view.unchoked
	g.view.unchoked = true
	has := g.view.offered()
	g.mu.Unlock()
	if news {
		g.say(&proto.Have{Have: has})
	}
}

// say hands a message to the swarm. Before the guest has joined there is nobody to
// hear it, and join says all that there is to say.
func (g *guest) say(m proto.Message) {
	if g.joined {
		g.seat.Send(m)
	}
}

// readPiece reads a chunk straight to its place in a block.
func (g *guest) readPiece(r *bufio.Reader, n int64) error {
	var head [pieceHeader - 5]byte
	if n < int64(len(head)) || n > int64(len(head)+maxRequest) {
		return protocolError("piece message of %d bytes", n)
	}
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	c := proto.Span{Piece: binary.BigEndian.Uint32(head[:]), Begin: binary.BigEndian.Uint32(head[4:]), Length: uint32(n) - uint32(len(head))}
	in, k := g.download.begin(c)
	if in == nil {
		return g.unwanted(r, int(c.Length))
	}
	if in.buf == nil {
		in.buf = g.seat.Buffer(int(in.span.Length))
	}
	from := c.Begin - in.span.Begin
	_, err := io.ReadFull(r, in.buf.B[from:from+c.Length])
	whole, over := g.download.end(in, k)
	switch {
	case over:
		g.seat.Wasted(int(c.Length))
		g.seat.Release(in.buf)
	case err != nil:
	case whole:
		g.seat.Store(in.span, in.buf)
	}
	g.ask()
	return err
}

// unwanted passes over a chunk that nobody waits for.
func (g *guest) unwanted(r *bufio.Reader, n int) error {
	if !g.download.unwanted() {
		if g.unasked++; g.unasked > maxUnasked {
			return protocolError("%d blocks that nobody asked for", g.unasked)
		}
	}
	if g.joined {
		g.seat.Wasted(n)
	}
	_, err := r.Discard(n)
	return err
}
