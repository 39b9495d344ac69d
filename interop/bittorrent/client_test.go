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

	"github.com/anacrolix/torrent/bencode"
	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// client is a scripted BitTorrent client: it says what a test wants, right or wrong.
type client struct {
	t    testing.TB
	conn net.Conn
	s    *sample
}

// word is a message that came.
type word struct {
	kind    pp.MessageType
	payload []byte
}

// clientBits are the extensions of a client.
type clientBits int

const (
	plain clientBits = iota
	modern
)

func (b clientBits) handshake(s *sample, id byte) *handshake {
	h := &handshake{hash: proto.InfoHash(s.torrent.Hash)}
	copy(h.id[:], "-XX0000-")
	h.id[19] = id
	if b == modern {
		h.bits = extensions()
	}
	return h
}

// call connects to a node.
func call(t testing.TB, n *node, s *sample, bits clientBits, id byte) *client {
	t.Helper()
	conn, err := net.Dial("tcp", n.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := greet(conn, *bits.handshake(s, id)); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, conn: conn, s: s}
	if bits == modern {
		c.introduce(extended{Messages: map[string]int64{pp.ExtensionNameMetadata: 7}, Client: "scripted 1.0"})
	}
	return c
}

func (c *client) introduce(e extended) {
	c.say(pp.Extended, append([]byte{0}, bencode.MustMarshal(e)...))
}

// say sends a message of 32-bit fields behind a payload's place.
func (c *client) say(kind pp.MessageType, payload []byte, fields ...uint32) {
	o := newOutbox()
	o.put(kind, payload, fields...)
	_, _ = c.conn.Write(o.take(nil)) // an end shows when it is read
}

// raw sends bytes as they are.
func (c *client) raw(b ...byte) { _, _ = c.conn.Write(b) }

// hear reads a message.
func (c *client) hear() (w word, err error) {
	var head [4]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return w, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c.conn, b); err != nil || len(b) == 0 {
		return w, err
	}
	return word{pp.MessageType(b[0]), b[1:]}, nil
}

// expect reads up to a message of a kind.
func (c *client) expect(kind pp.MessageType) []byte {
	c.t.Helper()
	for {
		w, err := c.hear()
		if err != nil {
			c.t.Fatalf("no message of type %v: %v", kind, err)
		}
		if w.kind == kind {
			return w.payload
		}
	}
}

// closed reads until the node ends the connection.
func (c *client) closed() {
	c.t.Helper()
	for {
		if _, err := c.hear(); errors.Is(err, os.ErrDeadlineExceeded) {
			c.t.Fatal("the connection was left open")
		} else if err != nil {
			return
		}
	}
}

// chunks lists all requests that fetch the sample.
func (s *sample) chunks() []proto.Span {
	var out []proto.Span
	for i := range s.manifest.Pieces() {
		for at := 0; at < s.manifest.PieceSize(i); at += chunk {
			out = append(out, proto.Span{Piece: uint32(i), Begin: uint32(at), Length: uint32(min(chunk, s.manifest.PieceSize(i)-at))})
		}
	}
	return out
}

func (s *sample) bytes(c proto.Span) []byte {
	at := s.manifest.PieceOffset(int(c.Piece)) + int64(c.Begin)
	return s.data[at : at+int64(c.Length)]
}

func spanOf(b []byte) proto.Span {
	return proto.Span{Piece: binary.BigEndian.Uint32(b), Begin: binary.BigEndian.Uint32(b[4:]), Length: binary.BigEndian.Uint32(b[8:])}
}

// download fetches everything and checks it.
func (c *client) download() {
	c.t.Helper()
	all := c.s.chunks()
	got := map[proto.Span]bool{}
	const ahead = 50
	for i := 0; len(got) < len(all); {
		for ; i < len(all) && i < len(got)+ahead; i++ {
			c.say(pp.Request, nil, all[i].Piece, all[i].Begin, all[i].Length)
		}
		b := c.expect(pp.Piece)
		sp := proto.Span{Piece: binary.BigEndian.Uint32(b), Begin: binary.BigEndian.Uint32(b[4:]), Length: uint32(len(b) - 8)}
		if got[sp] || !bytes.Equal(b[8:], c.s.bytes(sp)) {
			c.t.Fatalf("%+v is wrong, or came twice", sp)
		}
		got[sp] = true
	}
}

// serve is a seed: it honours every request that do lets pass, until the connection
// ends.
func (c *client) serve(do func(sp proto.Span) bool) {
	for {
		w, err := c.hear()
		if err != nil {
			return
		}
		if w.kind != pp.Request {
			continue
		}
		if sp := spanOf(w.payload); do == nil || do(sp) {
			c.piece(sp, c.s.bytes(sp))
		}
	}
}

func (c *client) piece(sp proto.Span, data []byte) { c.say(pp.Piece, data, sp.Piece, sp.Begin) }

// offer says that it has everything, and serves it.
func (c *client) offer() {
	b := newBitfield(c.s.manifest.Pieces())
	for i := range uint32(b.n) {
		b.add(i)
	}
	c.say(pp.Bitfield, b.bytes())
	c.say(pp.Unchoke, nil)
}
