package bittorrent

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/anacrolix/torrent/tracker/shared"
	"github.com/anacrolix/torrent/tracker/udp"
)

var be = binary.BigEndian

// newTestServer is a tracker in virtual time that does not listen.
func newTestServer(t testing.TB, cfg Config) (*Server, *clock) {
	t.Helper()
	c := new(clock)
	s, err := newServer(cfg, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func connectPacket() []byte {
	b := be.AppendUint64(nil, udp.ConnectRequestConnectionId)
	b = be.AppendUint32(b, uint32(udp.ActionConnect))
	return append(b, "tran"...)
}

// connect returns the connection id that the tracker issues to an address.
func connect(t testing.TB, s *Server, from netip.Addr) uint64 {
	t.Helper()
	out := s.packet(connectPacket(), from)
	if len(out) != 16 || be.Uint32(out) != uint32(udp.ActionConnect) || string(out[4:8]) != "tran" {
		t.Fatalf("connect: %x", out)
	}
	return be.Uint64(out[8:])
}

// announcePacket is an announce, as the table of BEP 15 has it.
func announcePacket(id uint64, a announce) []byte {
	b := be.AppendUint64(nil, id)
	b = be.AppendUint32(b, uint32(udp.ActionAnnounce))
	b = append(b, "tran"...)
	b = append(b, a.hash[:]...)
	b = append(b, "-XX0000-1234567890ab"...)
	b = be.AppendUint64(b, 0)              // downloaded
	b = be.AppendUint64(b, uint64(a.left)) // left
	b = be.AppendUint64(b, 0)              // uploaded
	b = be.AppendUint32(b, uint32(a.event))
	b = be.AppendUint32(b, 0xcb007109) // an IP address, of somebody else
	b = be.AppendUint32(b, 0)          // key
	b = be.AppendUint32(b, uint32(a.numWant))
	return be.AppendUint16(b, a.addr.Port())
}

func scrapePacket(id uint64, hashes ...int) []byte {
	b := be.AppendUint64(nil, id)
	b = be.AppendUint32(b, uint32(udp.ActionScrape))
	b = append(b, "tran"...)
	for _, n := range hashes {
		h := hash(n)
		b = append(b, h[:]...)
	}
	return b
}

func TestUDPBytes(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, Config{})
	send := func(a announce) []byte {
		t.Helper()
		from := a.addr.Addr()
		return s.packet(announcePacket(connect(t, s, from), a), from)
	}
	send(announce{addr: addr("192.0.2.1:258"), event: shared.Started, numWant: -1})
	send(announce{addr: addr("[2001:db8::1]:258"), left: 3, numWant: -1})
	send(announce{addr: addr("192.0.2.3:3"), left: 3, numWant: -1})
	out := send(announce{addr: addr("192.0.2.3:3"), left: 0, event: shared.Completed, numWant: -1})
	if i := be.Uint32(out[8:]); i < 540 || i > 660 {
		t.Errorf("interval %d", i)
	}
	out = send(announce{addr: addr("192.0.2.4:4"), left: 3, numWant: 1})
	want := append(append([]byte{0, 0, 0, 1}, "tran"...), out[8:12]...)
	want = append(want, 0, 0, 0, 2, 0, 0, 0, 2)
	one, other := append(bytes.Clone(want), 192, 0, 2, 1, 1, 2), append(bytes.Clone(want), 192, 0, 2, 3, 0, 3)
	if !bytes.Equal(out, one) && !bytes.Equal(out, other) {
		t.Errorf("announce %x, want %x or %x", out, one, other)
	}
	out = send(announce{addr: addr("[2001:db8::2]:2"), left: 3, numWant: -1})
	if want := netip.MustParseAddr("2001:db8::1").AsSlice(); !bytes.Equal(out[20:], append(want, 1, 2)) {
		t.Errorf("announce by IPv6 %x", out)
	}
	from := netip.MustParseAddr("198.51.100.1")
	out = s.packet(scrapePacket(connect(t, s, from), 9, 0), from)
	unknown, known := strings.Repeat("\x00", 12), "\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x03"
	if want := "\x00\x00\x00\x02tran" + unknown + known; string(out) != want {
		t.Errorf("scrape %x, want %x", out, want)
	}
}

func TestUDPOptionsAreIgnored(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, Config{})
	a := announce{addr: addr("192.0.2.1:1")}
	b := append(announcePacket(connect(t, s, a.addr.Addr()), a), 2, 9, '/', 'a', 'n', 'n', 'o', 'u', 'n', 'c', 'e')
	if out := s.packet(b, a.addr.Addr()); len(out) != 20 || be.Uint32(out) != uint32(udp.ActionAnnounce) {
		t.Errorf("announce with options: %x", out)
	}
}

func TestUDPSpoofedConnectionIDs(t *testing.T) {
	t.Parallel()
	s, c := newTestServer(t, Config{})
	a := announce{addr: addr("192.0.2.1:1")}
	from := a.addr.Addr()
	id := connect(t, s, from)
	invalid := func(id uint64, from netip.Addr) {
		t.Helper()
		for _, b := range [][]byte{announcePacket(id, a), scrapePacket(id, 0)} {
			out := s.packet(b, from)
			if be.Uint32(out) != uint32(udp.ActionError) || len(out) > len(b) {
				t.Errorf("a reply of %d bytes to %d: %x", len(out), len(b), out)
			}
		}
		if _, peers := size(s); peers != 0 {
			t.Fatalf("%d peers are known", peers)
		}
	}
	invalid(id, netip.MustParseAddr("192.0.2.2"))
	invalid(id, netip.MustParseAddr("2001:db8::1"))
	for bit := range 64 {
		invalid(id^1<<bit, from)
	}
	invalid(0, from)
	invalid(udp.ConnectRequestConnectionId, from)
	other, _ := newTestServer(t, Config{})
	invalid(connect(t, other, from), from)

	// It is valid for two minutes, from any port, and for four at most.
	c.add(cookieTerm)
	if out := s.packet(announcePacket(id, a), from); be.Uint32(out) != uint32(udp.ActionAnnounce) {
		t.Errorf("after %v: %x", cookieTerm, out)
	}
	a.event = shared.Stopped
	s.packet(announcePacket(id, a), from)
	c.add(cookieTerm)
	a.event = shared.None
	invalid(id, from)
}

func TestUDPHostileAnnounces(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, Config{})
	ask := func(a announce) []byte {
		t.Helper()
		from := a.addr.Addr()
		return s.packet(announcePacket(connect(t, s, from), a), from)
	}
	for i := range 300 {
		ask(announce{addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), uint16(i+1)), left: 1})
		ask(announce{addr: netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, 15: byte(i)}), uint16(i+1)), left: 1})
	}
	if out := ask(announce{addr: addr("198.51.100.1:1"), left: 1, numWant: 1<<31 - 1}); len(out) != 20+6*maxNumWant {
		t.Errorf("%d bytes for the highest numwant", len(out))
	}
	out := ask(announce{addr: addr("[2001:db8::1]:1"), left: -1 << 63, numWant: 1<<31 - 1, event: 77})
	if len(out) != 20+18*maxNumWant6 || len(out) > 1232 {
		t.Errorf("%d bytes for the highest numwant, by IPv6", len(out))
	}
	out = ask(announce{addr: addr("198.51.100.1:1"), left: -5, numWant: -1 << 31})
	if len(out) != 20+6*defaultNumWant {
		t.Errorf("%d bytes for a negative numwant", len(out))
	}
	out = ask(announce{addr: addr("198.51.100.1:0")})
	if be.Uint32(out) != uint32(udp.ActionError) || !strings.Contains(string(out), "port 0") {
		t.Errorf("port 0: %q", out)
	}
	from := netip.MustParseAddr("198.51.100.1")
	out = s.packet(scrapePacket(connect(t, s, from), make([]int, 75)...), from)
	if be.Uint32(out) != uint32(udp.ActionError) {
		t.Errorf("a scrape of 75: %x", out)
	}
	if out := s.packet(scrapePacket(connect(t, s, from), make([]int, 74)...), from); len(out) != 8+12*74 {
		t.Errorf("a scrape of 74: %d bytes", len(out))
	}
}

// FuzzUDP sends packets with a valid or another connection id, from an address that
// has one.
func FuzzUDP(f *testing.F) {
	a := announce{addr: addr("192.0.2.1:1"), left: 1, numWant: -1}
	f.Add(connectPacket(), false)
	f.Add(announcePacket(0, a), false)
	f.Add(announcePacket(0, a), true)
	f.Add(scrapePacket(0, 0, 1), true)
	f.Add([]byte{}, false)
	from := a.addr.Addr()
	f.Fuzz(func(t *testing.T, b []byte, valid bool) {
		s, _ := newTestServer(t, Config{})
		id := connect(t, s, from)
		before := s.packet(announcePacket(id, a), from)
		if be.Uint32(before) != uint32(udp.ActionAnnounce) {
			t.Fatalf("announce: %x", before)
		}
		if valid && len(b) >= 8 {
			be.PutUint64(b, id)
		}
		isValid := len(b) >= 8 && be.Uint64(b) == id
		out := s.packet(b, from)
		if !isValid {
			if len(out) > len(b) {
				t.Errorf("a reply of %d bytes to %d", len(out), len(b))
			}
			if _, peers := size(s); peers != 1 {
				t.Errorf("a packet without a connection id left %d peers", peers)
			}
		}
		if out != nil && (len(out) < 8 || !bytes.Equal(out[4:8], b[12:16])) {
			t.Errorf("reply %x to %x", out, b)
		}
		check(t, s.state.table)
	})
}

func TestCookiesDifferByTime(t *testing.T) {
	t.Parallel()
	c, now := newCookies(), epoch
	a := netip.MustParseAddr("192.0.2.1")
	first := c.issue(now, a)
	if c.issue(now.Add(cookieTerm), a) == first {
		t.Error("the same id at another time")
	}
	if !c.valid(now.Add(cookieTerm+cookieTerm/2), a, first) || c.valid(now.Add(2*cookieTerm), a, first) {
		t.Error("not valid for as long as it should be")
	}
	if c.valid(now.Add(-time.Minute), a, first) {
		t.Error("valid before it is issued")
	}
}

func BenchmarkUDPAnnounce(b *testing.B) {
	s, _ := newTestServer(b, Config{})
	var packets [][]byte
	for i := range 1000 {
		a := announce{addr: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), uint16(i+1)), left: 1, numWant: -1}
		packets = append(packets, announcePacket(connect(b, s, a.addr.Addr()), a))
	}
	i := 0
	for b.Loop() {
		out := s.packet(packets[i%len(packets)], netip.MustParseAddr("192.0.2.1"))
		if be.Uint32(out) != uint32(udp.ActionAnnounce) {
			b.Fatalf("%x", out)
		}
		i++
	}
}
