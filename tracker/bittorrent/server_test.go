package bittorrent

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	anacrolix "github.com/anacrolix/torrent/tracker"
	"github.com/anacrolix/torrent/tracker/udp"
	"github.com/anacrolix/torrent/types/infohash"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestClient announces and scrapes with anacrolix/torrent's client, over every kind of
// address.
func TestClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, listen, dial string }{
		{"IPv4", "127.0.0.1:0", "127.0.0.1"},
		{"IPv6", "[::1]:0", "[::1]"},
		{"both", ":0", "127.0.0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clk := new(clock)
			s := startServer(t, defaults(nil), clk, c.listen)
			at := fmt.Sprintf("http://%s:%d/announce", c.dial, s.Addrs()[0].Port())
			client, err := anacrolix.NewClient(at, anacrolix.NewClientOpts{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Close() })
			announce := func(port uint16, left int64, ev anacrolix.AnnounceEvent) anacrolix.AnnounceResponse {
				t.Helper()
				out, err := client.Announce(t.Context(), anacrolix.AnnounceRequest{
					InfoHash: hash(1), Left: left, Event: ev, NumWant: -1, Port: port,
				}, anacrolix.AnnounceOpt{})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			announce(1001, 0, anacrolix.Started)
			announce(1002, 9, anacrolix.Started)
			out := announce(1003, 9, anacrolix.Started)
			if st := s.Stats(); st.Torrents != 1 || st.Peers != 3 || st.Announces != 3 || st.Rejected != 0 {
				t.Errorf("stats %+v", st)
			}
			if out.Seeders != 1 || out.Leechers != 2 || len(out.Peers) != 2 || out.Interval < 540 {
				t.Fatalf("%+v", out)
			}
			for _, p := range out.Peers {
				if ip, _ := netip.AddrFromSlice(p.IP); !ip.Unmap().IsLoopback() || p.Port != 1001 && p.Port != 1002 {
					t.Errorf("peer %v", p)
				}
			}
			announce(1002, 0, anacrolix.Completed)
			announce(1003, 9, anacrolix.Stopped)
			got, err := client.Scrape(t.Context(), []infohash.T{hash(2), hash(1)})
			if want := (udp.ScrapeResponse{{}, {Seeders: 2, Completed: 1}}); err != nil || !slices.Equal(got, want) {
				t.Errorf("scrape %+v, %v", got, err)
			}
			noPort := anacrolix.AnnounceRequest{InfoHash: hash(1)}
			_, err = client.Announce(t.Context(), noPort, anacrolix.AnnounceOpt{})
			if err == nil || !strings.Contains(err.Error(), "port 0") {
				t.Errorf("port 0: %v", err)
			}
			if st := s.Stats(); st.Announces != 6 || st.Rejected != 1 {
				t.Errorf("stats %+v", st)
			}
			clk.add(s.cfg.Expiry)
			if torrents, peers := s.clients.Len(); torrents != 0 || peers != 0 {
				t.Errorf("%d torrents with %d peers, long after", torrents, peers)
			}
		})
	}
}

func TestListenErrors(t *testing.T) {
	t.Parallel()
	taken := startServer(t, defaults(nil), new(clock), "127.0.0.1:0").Addrs()[0].String()
	for _, at := range []string{"", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "192.0.2.1:0", taken} {
		// The error of the second address closes the first.
		if s, err := Listen([]string{"127.0.0.1:0", at}, "", nil); err == nil {
			s.Close()
			t.Errorf("listens at %q", at)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	s, err := Listen([]string{"127.0.0.1:0", "127.0.0.1:0"}, "", nil)
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

func TestReload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "torrents")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h1, h2 := hash(1), hash(2)
	write("# ours\n\n" + strings.ToUpper(h1.HexString()) + " the weights\r\n" +
		"\t" + h2.HexString() + strings.Repeat("ab", 12))
	c := new(clock)
	s, err := newServer(path, defaults(nil), c.now)
	if err != nil {
		t.Fatal(err)
	}
	allowed := func(want ...bool) {
		t.Helper()
		for i, want := range want {
			_, err := s.announce(&announce{hash: hash(i), addr: addr("192.0.2.1:1")})
			if (err == nil) != want {
				t.Errorf("torrent %d: %v", i, err)
			}
		}
	}
	allowed(false, true, true)
	h0 := hash(0)
	write(h0.HexString() + "\n" + h1.HexString() + "\n")
	allowed(false, true, true) // not read yet
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if torrents, peers := s.clients.Len(); torrents != 1 || peers != 1 {
		t.Errorf("%d torrents with %d peers left", torrents, peers)
	}
	allowed(true, true, false)
	// An invalid list is ignored.
	for _, bad := range []string{h2.HexString() + "\nxyz", h2.HexString()[1:], h2.HexString() + "00", "-"} {
		write(bad)
		if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "invalid info-hash") {
			t.Errorf("%q: %v", bad, err)
		}
		allowed(true, true, false)
	}
	write("") // of no torrents
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	allowed(false, false, false)
	if _, err := newServer(path+"x", defaults(nil), c.now); err == nil {
		t.Error("no error for a missing list")
	}
}
