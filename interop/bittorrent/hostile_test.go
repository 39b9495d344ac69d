package bittorrent

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/proto"
)

// TestStrangersAreShownOut says what is no handshake, or one of another torrent.
func TestStrangersAreShownOut(t *testing.T) {
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.offer(), 0)
	n.seed(t, s)
	other := plain.handshake(s, 1)
	other.hash[0]++
	for name, say := range map[string]string{
		"nothing more":    "",
		"HTTP":            "GET / HTTP/1.1\r\nHost: a\r\n\r\n" + strings.Repeat("x", 100),
		"another torrent": string(other.append(nil)),
		"half of it":      protocolName + "12345678",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", n.server.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, say)
			_ = conn.(*net.TCPConn).CloseWrite()
			_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
			if b, err := io.ReadAll(conn); len(b) > 0 {
				t.Errorf("heard %q, %v", b, err)
			} else if e, ok := err.(net.Error); ok && e.Timeout() {
				t.Error("the connection was left open")
			}
		})
	}
	call(t, n, s, modern, 1).download()
}

// TestClientsThatBreakTheRules are shown out, and others are served.
func TestClientsThatBreakTheRules(t *testing.T) {
	s := newSample(t, 4*proto.MinSeedPieceLength)
	n := startNode(t, "A", s.offer(), 0)
	n.seed(t, s)
	huge := func(kind pp.MessageType) func(*client) {
		return func(c *client) { c.raw(append([]byte{0x7f, 0xff, 0xff, 0xff}, byte(kind))...) }
	}
	for name, do := range map[string]func(c *client){
		"huge piece":                           huge(pp.Piece),
		"huge bitfield":                        huge(pp.Bitfield),
		"huge extended":                        huge(pp.Extended),
		"huge have":                            huge(pp.Have),
		"huge unknown":                         huge(99),
		"short have":                           func(c *client) { c.raw(0, 0, 0, 2, 4, 0) },
		"short piece":                          func(c *client) { c.raw(0, 0, 0, 2, 7, 0) },
		"have beyond the end":                  func(c *client) { c.say(pp.Have, nil, 4) },
		"have far beyond":                      func(c *client) { c.say(pp.Have, nil, 1<<32-1) },
		"bitfield of more":                     func(c *client) { c.say(pp.Bitfield, make([]byte, 2)) },
		"request of a piece that is not there": func(c *client) { c.say(pp.Request, nil, 4, 0, chunk) },
		"request beyond the piece":             func(c *client) { c.say(pp.Request, nil, 0, proto.MinSeedPieceLength-1, 2) },
		"request that overflows":               func(c *client) { c.say(pp.Request, nil, 0, 1<<32-1, chunk) },
		"request of nothing":                   func(c *client) { c.say(pp.Request, nil, 0, 0, 0) },
		"request of too much":                  func(c *client) { c.say(pp.Request, nil, 0, 0, maxRequest+1) },
		"empty extended message":               func(c *client) { c.say(pp.Extended, nil) },
		"broken extended handshake":            func(c *client) { c.say(pp.Extended, []byte("\x00d1:m")) },
		"deep extended handshake":              func(c *client) { c.say(pp.Extended, []byte("\x00"+strings.Repeat("l", maxExtended-10))) },
		"broken metadata message":              func(c *client) { c.say(pp.Extended, []byte("\x01xx")) },
		"a mob node":                           func(c *client) { c.introduce(extended{Mob: "12D3"}) },
		"blocks that nobody asked for": func(c *client) {
			for range 2 * maxUnasked {
				c.piece(proto.Span{}, make([]byte, chunk))
			}
		},
		"it does not read": func(c *client) {
			for range 2 * (maxUnsent + 64<<20) / (256 << 10) {
				for at := range 16 {
					c.say(pp.Request, nil, 0, uint32(at*chunk), chunk)
				}
				_ = c.conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			}
			c.conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(t, n, s, modern, 1)
			c.expect(pp.Unchoke)
			do(c)
			c.closed()
		})
	}
	call(t, n, s, modern, 2).download()
}

// TestOneClientTwice has a client connect again: the first connection stays.
func TestOneClientTwice(t *testing.T) {
	s := newSample(t, 1<<20)
	n := startNode(t, "A", s.offer(), 0)
	n.seed(t, s)
	first := call(t, n, s, modern, 1)
	first.download()
	call(t, n, s, modern, 1).closed()
	first.download()
}

// TestBadPieces has one seed send other bytes than there should be: it is shown out
// and not let in again, and the content comes from another, whole.
func TestBadPieces(t *testing.T) {
	s := newSample(t, 4<<20)
	var liarCame atomic.Int32
	liar := startSeed(t, s, 1, func(c *client) {
		liarCame.Add(1)
		c.offer()
		for {
			w, err := c.hear()
			if err != nil {
				return
			}
			if w.kind == pp.Request {
				sp := spanOf(w.payload)
				c.piece(sp, make([]byte, sp.Length))
			}
		}
	})
	var open atomic.Bool
	honest := startSeed(t, s, 2, func(c *client) {
		if open.Load() {
			c.offer()
			c.serve(nil)
		}
	})
	offer := s.offer()
	for _, l := range []*net.TCPListener{liar, honest} {
		offer.Peers = append(offer.Peers, l.Addr().(*net.TCPAddr).AddrPort())
	}
	n := startNode(t, "A", offer, 0)
	tr, out := n.get(t, s)
	sw := func() *lobby {
		n.server.mu.Lock()
		defer n.server.mu.Unlock()
		return n.server.lobbies[offer.Hash]
	}
	eventually(t, "the ban", func() bool {
		w := sw()
		if w == nil {
			return false
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.banned) > 0
	})
	w := sw()
	w.mu.Lock()
	clear(w.banned) // both have one address here
	w.mu.Unlock()
	open.Store(true)
	mustWait(t, tr)
	mustEqual(t, out, s.data)
	if liarCame.Load() == 0 {
		t.Error("the liar was never asked")
	}
}

// FuzzRead has a client say anything.
func FuzzRead(f *testing.F) {
	s := newSample(f, 1<<20)
	n := startNode(f, "A", s.offer(), 0)
	tr := n.seed(f, s)
	o := newOutbox()
	o.put(pp.Request, nil, 0, 0, chunk)
	o.put(pp.Have, nil, 3)
	o.put(pp.Extended, []byte("\x00d1:md11:ut_metadatai3ee1:v1:xe"))
	o.put(pp.Extended, []byte("\x01d8:msg_typei0e5:piecei0ee"))
	f.Add(o.take(nil), true)
	o.put(pp.Bitfield, []byte{0xf0})
	o.put(pp.Unchoke, nil)
	o.put(pp.Piece, make([]byte, 100), 1, 2)
	o.put(pp.Choke, nil)
	f.Add(o.take(nil), false)
	f.Fuzz(func(t *testing.T, said []byte, fast bool) {
		bits := plain
		if fast {
			bits = modern
		}
		sw := newSwarm(t.Context(), n.server, tr, s.offer())
		here, there := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- sw.welcome(here, remoteAddr(here), *bits.handshake(s, 1), false) }()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		for len(said) > 0 {
			k := min(len(said), 1+int(binary.BigEndian.Uint16([]byte{0, said[0]})))
			if _, err := there.Write(said[:k]); err != nil {
				break
			}
			said = said[k:]
		}
		there.Close()
		if err := <-done; err == nil {
			t.Error("a conversation ended without a reason")
		}
		if len(sw.here) != 0 {
			t.Error("the guest is not forgotten")
		}
	})
}

// FuzzHandshake has an address say anything for a handshake.
func FuzzHandshake(f *testing.F) {
	s := newSample(f, 1<<10)
	f.Add(plain.handshake(s, 1).append(nil))
	f.Fuzz(func(t *testing.T, said []byte) {
		var h handshake
		r := strings.NewReader(string(said))
		if h.readStart(r) != nil || h.readID(r) != nil {
			return
		}
		if got := h.append(nil); string(got) != string(said[:len(got)]) {
			t.Errorf("%q became %q", said, got)
		}
	})
}
