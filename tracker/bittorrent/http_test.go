package bittorrent

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/anacrolix/torrent/bencode"
)

// get is the body of a reply to a request from an address.
func get(t testing.TB, s *Server, from, target string) string {
	t.Helper()
	r := httptest.NewRequest("GET", target, nil)
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("%s: status %d", target, w.Code)
	}
	return w.Body.String()
}

// escaped is an info-hash in a query.
func escaped(n int) string { h := hash(n); return url.QueryEscape(h.AsString()) }

// TestHTTPBytes compares replies with the bytes of the BEPs.
func TestHTTPBytes(t *testing.T) {
	t.Parallel()
	cfg := defaults(nil)
	cfg.Seed = 1
	s, _ := newTestServer(t, cfg)
	query := "/announce?info_hash=" + escaped(1) + "&peer_id=-XX0000-%00%01%02%20%ff7890ab" +
		"&uploaded=0&downloaded=0&port=6881&event=started&compact=0&ip=203.0.113.9&left="
	get(t, s, "[::ffff:192.0.2.1]:50000", query+"0")
	get(t, s, "[2001:db8::1]:50000", query+"7")
	interval := bencodeOf(t, get(t, s, "192.0.2.2:50000", query+"7"))["interval"].(int64)
	if interval < 540 || interval > 660 {
		t.Errorf("interval %d", interval)
	}
	ip6 := "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01"
	got := bencodeOf(t, get(t, s, "192.0.2.2:50000", query+"7"))
	delete(got, "interval")
	want := map[string]any{
		"complete": int64(1), "incomplete": int64(2), "downloaded": int64(0), "external ip": "\xc0\x00\x02\x02",
		"peers": "\xc0\x00\x02\x01\x1a\xe1", "peers6": ip6 + "\x1a\xe1",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("announce %q, want %q", got, want)
	}
	// Without peers there still is a list, an empty one.
	noPeers := get(t, s, "[2001:db8::1%eth0]:50000", query+"7&numwant=0")
	if !strings.HasSuffix(noPeers, "5:peers0:e") || !strings.Contains(noPeers, "16:"+ip6) {
		t.Errorf("announce %q", noPeers)
	}
	h := hash(1)
	scrape := "d5:filesd20:" + h.AsString() + "d8:completei1e10:downloadedi0e10:incompletei2eeee"
	if got := get(t, s, "192.0.2.2:50000", "/scrape?info_hash="+escaped(1)+"&info_hash="+escaped(2)); got != scrape {
		t.Errorf("scrape %q, want %q", got, scrape)
	}
	if got := get(t, s, "192.0.2.2:50000", "/scrape?info_hash="+escaped(2)); got != "d5:filesdee" {
		t.Errorf("scrape of an unknown torrent: %q", got)
	}
}

func bencodeOf(t testing.TB, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := bencode.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

func TestHTTPInvalidRequests(t *testing.T) {
	t.Parallel()
	s, _ := newTestServer(t, defaults(nil))
	good := "info_hash=" + escaped(1)
	for query, want := range map[string]string{
		"/announce":                                 "info_hash has 0 bytes",
		"/announce?info_hash=%aa":                   "info_hash has 1 bytes",
		"/announce?info_hash=%zz":                   "malformed",
		"/announce?" + good + "%20&port=1":          "info_hash has 21 bytes",
		"/announce?" + good:                         `port is ""`,
		"/announce?" + good + "&port=0":             "port 0",
		"/announce?" + good + "&port=-1":            `port is "-1"`,
		"/announce?" + good + "&port=65536":         `port is "65536"`,
		"/announce?" + good + "&port=1&left=x":      `left is "x"`,
		"/announce?" + good + "&port=1&left=":       `left is ""`,
		"/announce?" + good + "&port=1&numwant=1.5": `numwant is "1.5"`,
		"/scrape":                                 "info_hash is missing",
		"/scrape?info_hash=":                      "info_hash has 0 bytes",
		"/scrape?" + good + "&info_hash=x":        "info_hash has 1 bytes",
		"/scrape?" + strings.Repeat(good+"&", 75): "scrape of 75 torrents",
	} {
		reason, _ := bencodeOf(t, get(t, s, "192.0.2.1:5", query))["failure reason"].(string)
		if !strings.Contains(reason, want) {
			t.Errorf("%s: %q, want %q", query, reason, want)
		}
	}
	if torrents, _ := s.clients.Len(); torrents != 0 {
		t.Errorf("%d torrents are known", torrents)
	}
	// Numbers out of range are clipped, unknown events ignored.
	for _, query := range []string{
		"&numwant=99999999999999999999999", "&numwant=-5",
		"&left=99999999999999999999999", "&left=-99999999999999999999",
		"&event=paused", "&event=%00",
	} {
		if v := bencodeOf(t, get(t, s, "192.0.2.1:5", "/announce?"+good+"&port=1"+query)); v["incomplete"] != int64(1) {
			t.Errorf("%s: %v", query, v)
		}
	}
}

func FuzzHTTPAnnounce(f *testing.F) {
	f.Add("info_hash=" + escaped(1) + "&port=6881&left=0&numwant=50&event=started")
	f.Add("info_hash=%zz&port=-1;left=x")
	f.Add("info_hash=" + escaped(1) + "&info_hash=" + escaped(2))
	from := addr("192.0.2.1:5")
	f.Fuzz(func(t *testing.T, query string) {
		s, _ := newTestServer(t, defaults(nil))
		a, err := parseAnnounce(query, from.String())
		if (a == nil) == (err == nil) {
			t.Fatalf("%+v, %v", a, err)
		}
		if err == nil {
			if a.addr.Addr() != from.Addr() || a.maxPeers() < 0 || a.maxPeers() > maxNumWant {
				t.Fatalf("%+v", a)
			}
			_, _ = s.announce(a)
		}
		if hashes, err := parseScrape(query); err == nil && (len(hashes) == 0 || len(hashes) > maxScrape) {
			t.Fatalf("a scrape of %d", len(hashes))
		}
	})
}

// dialFrom connects to a tracker from an address, until the end of the test.
func dialFrom(t *testing.T, at netip.AddrPort, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", at.String())
	if err != nil {
		t.Skip("cannot connect: ", err) // a machine may have one loopback address
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// scrapes reports whether the tracker replies to a request on a connection, or closes it.
func scrapes(t *testing.T, c net.Conn) bool {
	t.Helper()
	fmt.Fprint(c, "GET /scrape HTTP/1.1\r\nHost: x\r\n\r\n")
	reply, _ := io.ReadAll(c)
	served := strings.Contains(string(reply), "info_hash is missing")
	if served && !strings.Contains(string(reply), "Connection: close") {
		t.Errorf("%s", reply)
	}
	return served
}

func TestHTTPConnectionsBounded(t *testing.T) {
	t.Parallel()
	cfg := defaults(nil)
	cfg.MaxStreams = 4
	s := startServer(t, cfg, new(clock), "127.0.0.1:0")
	l, err := listen("[::1]:0")
	if err != nil {
		t.Skip("cannot listen: ", err) // a machine may have no IPv6
	}
	s.serve(l)
	at, at6 := s.Addrs()[0], s.Addrs()[1]
	open := []net.Conn{dialFrom(t, at, "127.0.0.1"), dialFrom(t, at, "127.0.0.2")} // without a request
	for _, from := range []string{"127.0.0.1", "127.0.0.2", "127.1.2.3"} {
		if scrapes(t, dialFrom(t, at, from)) {
			t.Error("one host has more than half of the connections")
		}
	}
	if !scrapes(t, dialFrom(t, at6, "::1")) {
		t.Error("one host has all connections")
	}
	for _, c := range open {
		c.Close()
	}
	for !scrapes(t, dialFrom(t, at, "127.0.0.1")) { // until the server has seen that they are closed
		time.Sleep(time.Millisecond)
	}
}

func TestHTTPHeadersBounded(t *testing.T) {
	t.Parallel()
	s := startServer(t, defaults(nil), new(clock), "127.0.0.1:0")
	r, err := http.Get("http://" + s.Addrs()[0].String() + "/announce?" + strings.Repeat("x", 2*maxHeader))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", r.StatusCode)
	}
}

func TestPlainAddresses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"::ffff:192.0.2.1": "192.0.2.1",
		"fe80::1%eth0":     "fe80::1",
		"192.0.2.1":        "192.0.2.1",
	} {
		if got := plain(netip.MustParseAddr(in)); got != netip.MustParseAddr(want) {
			t.Errorf("%s is %v", in, got)
		}
	}
}
