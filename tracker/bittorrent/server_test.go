package bittorrent

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/anacrolix/torrent/tracker"
	"github.com/anacrolix/torrent/tracker/udp"
	"github.com/anacrolix/torrent/types/infohash"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Another's client gets what it asked for, over every kind of address.
func TestForeignClient(t *testing.T) {
	for _, c := range []struct{ name, listen, dial, scheme string }{
		{"http", "127.0.0.1:0", "127.0.0.1", "http"},
		{"udp", "127.0.0.1:0", "127.0.0.1", "udp"},
		{"http6", "[::1]:0", "[::1]", "http"},
		{"udp6", "[::1]:0", "[::1]", "udp"},
		{"http to both", ":0", "127.0.0.1", "http"},
		{"udp to both", ":0", "127.0.0.1", "udp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clk := new(clock)
			s := ported(t, Config{}, clk, c.listen)
			at := fmt.Sprintf("%s://%s:%d/announce", c.scheme, c.dial, s.Addrs()[0].Port())
			client, err := tracker.NewClient(at, tracker.NewClientOpts{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Close() })
			tell := func(port uint16, left int64, ev tracker.AnnounceEvent) tracker.AnnounceResponse {
				t.Helper()
				out, err := client.Announce(t.Context(), tracker.AnnounceRequest{
					InfoHash: hash(1), Left: left, Event: ev, NumWant: -1, Port: port,
				}, tracker.AnnounceOpt{})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			tell(1001, 0, tracker.Started)
			tell(1002, 9, tracker.Started)
			out := tell(1003, 9, tracker.Started)
			if out.Seeders != 1 || out.Leechers != 2 || len(out.Peers) != 2 || out.Interval < 540 {
				t.Fatalf("%+v", out)
			}
			for _, p := range out.Peers {
				if ip, _ := netip.AddrFromSlice(p.IP); !ip.Unmap().IsLoopback() || p.Port != 1001 && p.Port != 1002 {
					t.Errorf("peer %v", p)
				}
			}
			tell(1002, 0, tracker.Completed)
			tell(1003, 9, tracker.Stopped)
			got, err := client.Scrape(t.Context(), []infohash.T{hash(2), hash(1)})
			if want := (udp.ScrapeResponse{{}, {Seeders: 2, Completed: 1}}); err != nil || !slices.Equal(got, want) {
				t.Errorf("scrape %+v, %v", got, err)
			}
			if _, err := client.Announce(t.Context(), tracker.AnnounceRequest{InfoHash: hash(1)}, tracker.AnnounceOpt{}); err == nil || !strings.Contains(err.Error(), "port 0") {
				t.Errorf("port 0: %v", err)
			}
			clk.add(s.cfg.Expiry)
			if torrents, peers := s.Size(); torrents != 0 || peers != 0 {
				t.Errorf("%d torrents with %d peers, long after", torrents, peers)
			}
		})
	}
}

// What is no request is not answered, and does no harm to those that are.
func TestUDPGarbage(t *testing.T) {
	s := ported(t, Config{}, new(clock), "127.0.0.1:0")
	c, err := net.Dial("udp", s.Addrs()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, n := range []int{0, 1, 15, 16, 97, 98, 1500, 5000} {
		if _, err := c.Write(bytes.Repeat([]byte{0xff}, n)); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, maxPacket)
	if _, err := c.Write(connectPacket()); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	if n != 16 || be.Uint32(buf) != actConnect {
		t.Fatalf("the first answer is %x", buf[:n])
	}
}

func TestListenErrors(t *testing.T) {
	taken := ported(t, Config{}, new(clock), "127.0.0.1:0").Addrs()[0].String()
	for _, at := range []string{"", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "192.0.2.1:0", taken} {
		// The first is closed again with the second.
		if s, err := Listen([]string{"127.0.0.1:0", at}, Config{}); err == nil {
			s.Close()
			t.Errorf("listens at %q", at)
		}
	}
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	if s, err := Listen([]string{udp.LocalAddr().String()}, Config{}); err == nil {
		s.Close()
		t.Error("listens where UDP is taken")
	}
}

func TestCloseTwice(t *testing.T) {
	s, err := Listen([]string{"127.0.0.1:0", "127.0.0.1:0"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if a := s.Addrs(); len(a) != 2 || a[0] == a[1] || a[0].Port() == 0 {
		t.Errorf("addresses %v", a)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if c, err := net.Dial("tcp", s.Addrs()[0].String()); err == nil {
		c.Close()
		t.Error("listens after Close")
	}
}
