package bittorrent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// client is a scripted BitTorrent client.
type client struct {
	t    testing.TB
	conn net.Conn
	s    *sample
}

// message is a received message.
type message struct {
	kind    pp.MessageType
	payload []byte
}

// clientKind is the extensions of a client.
type clientKind int

const (
	basic  clientKind = iota
	modern            // fast and extended
)

func (k clientKind) handshake(s *sample, id byte) *handshake {
	h := &handshake{hash: proto.InfoHash(s.meta.Hash)}
	copy(h.peerID[:], "-XX0000-")
	h.peerID[19] = id
	if k == modern {
		h.extensions = extensions()
	}
	return h
}

// connect connects to a node.
func connect(t testing.TB, n *node, s *sample, kind clientKind, id byte) *client {
	t.Helper()
	conn, err := net.Dial("tcp", n.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	if _, err := exchangeHandshakes(conn, *kind.handshake(s, id)); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, conn: conn, s: s}
	if kind == modern {
		h := metadataHandshake(0)
		h.V = "scripted 1.0"
		c.sendHandshake(h)
	}
	return c
}

// clientMetadataID is the number of metadata messages to a client.
const clientMetadataID = 7

// metadataHandshake is the extended handshake of a client with an info dictionary of size
// bytes.
func metadataHandshake(size int) (h extendedHandshake) {
	h.M = map[pp.ExtensionName]pp.ExtensionNumber{pp.ExtensionNameMetadata: clientMetadataID}
	h.MetadataSize = size
	return h
}

func (c *client) sendHandshake(h extendedHandshake) { c.send(pp.Extended, h.encode()) }

// send sends a message of 32-bit fields and a payload.
func (c *client) send(kind pp.MessageType, payload []byte, fields ...uint32) {
	_, _ = c.conn.Write(appendMessage(nil, kind, payload, fields...)) // the next read shows an error
}

// sendRaw sends bytes.
func (c *client) sendRaw(b ...byte) { _, _ = c.conn.Write(b) }

// receive reads a message.
func (c *client) receive() (m message, err error) {
	var head [4]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return m, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c.conn, b); err != nil || len(b) == 0 {
		return m, err
	}
	return message{pp.MessageType(b[0]), b[1:]}, nil
}

// expect skips messages up to one of a type, and returns its payload.
func (c *client) expect(kind pp.MessageType) []byte {
	c.t.Helper()
	for {
		m, err := c.receive()
		if err != nil {
			c.t.Fatalf("no message of type %v: %v", kind, err)
		}
		if m.kind == kind {
			return m.payload
		}
	}
}

// expectClosed reads until the node closes the connection.
func (c *client) expectClosed() {
	c.t.Helper()
	for {
		if _, err := c.receive(); errors.Is(err, os.ErrDeadlineExceeded) {
			c.t.Fatal("the connection stays open")
		} else if err != nil {
			return
		}
	}
}

// chunks is the requests for the whole sample.
func (s *sample) chunks() []proto.Span {
	var out []proto.Span
	for i := range s.manifest.Pieces() {
		size := s.manifest.PieceSize(i)
		for begin := 0; begin < size; begin += chunk {
			out = append(out, proto.Span{Piece: uint32(i), Begin: uint32(begin), Length: uint32(min(chunk, size-begin))})
		}
	}
	return out
}

func (s *sample) bytes(c proto.Span) []byte {
	at := s.manifest.PieceOffset(int(c.Piece)) + int64(c.Begin)
	return s.data[at : at+int64(c.Length)]
}

func spanOf(b []byte) proto.Span {
	return proto.Span{
		Piece:  binary.BigEndian.Uint32(b),
		Begin:  binary.BigEndian.Uint32(b[4:]),
		Length: binary.BigEndian.Uint32(b[8:]),
	}
}

// download downloads the sample and checks it.
func (c *client) download() {
	c.t.Helper()
	all := c.s.chunks()
	got := map[proto.Span]bool{}
	const ahead = 50
	for i := 0; len(got) < len(all); {
		for ; i < len(all) && i < len(got)+ahead; i++ {
			c.send(pp.Request, nil, all[i].Piece, all[i].Begin, all[i].Length)
		}
		b := c.expect(pp.Piece)
		sp := proto.Span{
			Piece:  binary.BigEndian.Uint32(b),
			Begin:  binary.BigEndian.Uint32(b[4:]),
			Length: uint32(len(b) - 8),
		}
		if got[sp] || !bytes.Equal(b[8:], c.s.bytes(sp)) {
			c.t.Fatalf("chunk %+v is wrong, or came twice", sp)
		}
		got[sp] = true
	}
}

// serve serves the requests that ok, if not nil, accepts, until the connection
// ends.
func (c *client) serve(ok func(sp proto.Span) bool) {
	for {
		m, err := c.receive()
		if err != nil {
			return
		}
		if m.kind != pp.Request {
			continue
		}
		if sp := spanOf(m.payload); ok == nil || ok(sp) {
			c.sendPiece(sp, c.s.bytes(sp))
		}
	}
}

func (c *client) sendPiece(sp proto.Span, data []byte) { c.send(pp.Piece, data, sp.Piece, sp.Begin) }

// sendAll sends the bitfield of a seed, and unchoke.
func (c *client) sendAll() {
	all := bitset.New(c.s.manifest.Pieces())
	all.AddRange(0, all.Cap())
	c.send(pp.Bitfield, encodeBitfield(all))
	c.send(pp.Unchoke, nil)
}
