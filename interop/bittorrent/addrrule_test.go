package bittorrent

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	anacrolix "github.com/anacrolix/torrent/tracker"
)

// withNets returns the networks of a machine with one address.
func withNets(prefix string) func() []netip.Prefix {
	return func() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(prefix)} }
}

func TestAddrRule(t *testing.T) {
	t.Parallel()
	lan, public := &addrRule{withNets("10.1.0.0/16")}, &addrRule{withNets("192.0.2.0/24")}
	for _, tt := range []struct {
		rule     *addrRule
		addr, by string
		want     string // part of the error, empty for none
	}{
		{public, "192.0.2.1", "", ""},
		{public, "2001:db8::1", "", ""},
		{public, "127.0.0.1", "", "loopback"},
		{public, "127.9.9.9", "192.0.2.1", "loopback"},
		{public, "::1", "10.0.0.1", "loopback"},
		{public, "::ffff:127.0.0.1", "", "loopback"},
		{public, "127.0.0.1", "127.0.0.1", ""},
		{public, "::1", "127.0.0.1", ""},
		{lan, "169.254.169.254", "", "link-local"},
		{lan, "::ffff:169.254.169.254", "", "link-local"},
		{lan, "fe80::1%eth0", "", "link-local"},
		{lan, "fe80::1%eth0", "fe80::2%eth0", ""},
		{lan, "169.254.1.1", "127.0.0.1", ""},
		{lan, "169.254.1.1", "10.1.0.1", "link-local"},
		{public, "100.64.0.1", "", "private"},
		{lan, "0.0.0.0", "127.0.0.1", "unspecified"},
		{lan, "::", "", "unspecified"},
		{lan, "0.1.2.3", "", "unspecified"},
		{lan, "224.0.0.1", "127.0.0.1", "multicast"},
		{lan, "ff02::1", "", "multicast"},
		{lan, "255.255.255.255", "", "reserved"},
		{lan, "10.2.0.1", "", ""},
		{lan, "192.168.1.1", "192.0.2.1", ""},
		{public, "10.2.0.1", "", "private address: this node has only public addresses"},
		{public, "fd00::1", "192.0.2.1", "private"},
		{public, "192.168.1.1", "10.0.0.1", ""},
		{nil, "127.0.0.1", "", ""},
	} {
		var by netip.Addr
		if tt.by != "" {
			by = netip.MustParseAddr(tt.by)
		}
		err := tt.rule.check(netip.MustParseAddr(tt.addr), by, "")
		if err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, returned by %q: %v, want %q", tt.addr, tt.by, err, tt.want)
		}
	}
}

// service is an HTTP server on loopback that counts its requests and connections.
type service struct {
	*httptest.Server
	requests, conns atomic.Int64
}

func newService(t *testing.T, secure bool, handle http.HandlerFunc) *service {
	t.Helper()
	s := new(service)
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handle(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// noPeers is the reply of a tracker without peers.
func noPeers(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte("d8:intervali1800e5:peers0:e"))
}

func (s *service) addr() netip.AddrPort { return netip.MustParseAddrPort(s.Listener.Addr().String()) }

// ruledServer starts a server with the rule, and trackers that the operator named.
func ruledServer(t *testing.T, trackers ...string) *Server {
	t.Helper()
	s := serve(Config{Client: "mob test", Trackers: trackers}, mustListen(t))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// waitProblem describes a link until the server reports a problem that contains all parts.
func waitProblem(t *testing.T, s *Server, sample *sample, trackers []string, peers []netip.AddrPort, parts ...string) {
	t.Helper()
	describeUntil(t, s, sample, trackers, peers, func() bool { return true }, parts...)
}

// describeUntil is waitProblem that waits for something else, too.
func describeUntil(
	t *testing.T, s *Server, sample *sample, trackers []string, peers []netip.AddrPort, done func() bool, parts ...string,
) {
	t.Helper()
	link := sample.plainLink(peers...)
	link.Announce = trackers
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.Describe(ctx, link)
	}()
	eventually(t, strings.Join(parts, ", "), func() bool {
		text := s.Problem(link.InfoHash)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return false
			}
		}
		return done()
	})
	cancel()
	<-ended
}

// TestLinkNamesLocalServices checks a link that names services on loopback, as trackers by address and by name and as a
// client. The node connects to none of them, and reports why.
func TestLinkNamesLocalServices(t *testing.T) {
	t.Parallel()
	inner := newService(t, false, noPeers)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	_, port, _ := net.SplitHostPort(inner.Listener.Addr().String())
	trackers := []string{
		inner.URL + "/admin/delete-all?yes=1",
		"http://localhost:" + port + "/announce",
		"http://[::ffff:127.0.0.1]:" + port + "/announce",
		"http://0.0.0.0:" + port + "/announce",
		"https://127.0.0.1:" + port + "/announce",
		"udp://" + udp.LocalAddr().String() + "/announce",
	}
	s := ruledServer(t)
	waitProblem(t, s, newSample(t, 1<<10), trackers, []netip.AddrPort{inner.addr()},
		"BitTorrent client "+inner.addr().String(), "127.0.0.1, a loopback address", "; and 6 more")
	if n := inner.conns.Load(); n != 0 {
		t.Errorf("%d connections to a service on loopback", n)
	}
	_ = udp.SetReadDeadline(time.Now()) // a packet that was sent has arrived
	if n, _, err := udp.ReadFrom(make([]byte, 100)); err == nil {
		t.Errorf("a datagram of %d bytes to a service on loopback", n)
	}
}

// TestProblemHidesPasskey checks that the problem of a private tracker does not contain what identifies its user.
func TestProblemHidesPasskey(t *testing.T) {
	t.Parallel()
	s, sample := ruledServer(t), newSample(t, 1<<10)
	var text string
	done := func() bool {
		text = s.Problem(sample.plainLink().InfoHash)
		return true
	}
	trackers := []string{"http://user:PASSKEY@127.0.0.1:1/PASSKEY/announce?key=PASSKEY"}
	describeUntil(t, s, sample, trackers, nil, done, "BitTorrent tracker http://127.0.0.1:1: ", "--bt-tracker")
	if strings.Contains(text, "PASSKEY") {
		t.Error(text)
	}
}

// TestNamedTracker checks trackers that the operator named on loopback, or a user with a seed: the node asks them. They may
// return clients on loopback, but redirect to no other service there.
func TestNamedTracker(t *testing.T) {
	t.Parallel()
	s := newSample(t, 1<<20)
	conns := make(chan struct{}, 100)
	l := mustListen(t)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- struct{}{}
			_ = c.Close()
		}
	}()
	good := newService(t, false, func(w http.ResponseWriter, _ *http.Request) {
		port := l.Addr().(*net.TCPAddr).Port
		_, _ = w.Write(append([]byte("d8:intervali1800e5:peers6:"), 127, 0, 0, 1, byte(port>>8), byte(port), 'e'))
	})
	inner := newService(t, false, noPeers)
	redirecting := newService(t, false, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inner.URL+"/admin/delete-all?", http.StatusFound)
	})
	trackers := []string{good.URL + "/announce", redirecting.URL + "/announce"}
	server := ruledServer(t, trackers...)
	dialed := func() bool { return len(conns) > 0 } // the client that the first tracker returns
	describeUntil(t, server, s, trackers, nil, dialed, "BitTorrent tracker "+redirecting.URL, "not connecting to 127.0.0.1")
	if good.requests.Load() == 0 || redirecting.requests.Load() == 0 {
		t.Error("a tracker that the operator named was not asked")
	}
	if n := inner.conns.Load(); n != 0 {
		t.Errorf("%d connections by a redirect", n)
	}
	// Another path of the same tracker comes from the link.
	waitProblem(t, server, s, []string{good.URL + "/admin"}, nil, "loopback")
}

// TestNamedBySeed attaches a torrent with trackers on loopback. A user named one of them.
func TestNamedBySeed(t *testing.T) {
	t.Parallel()
	named, other := newService(t, false, noPeers), newService(t, false, noPeers)
	s, sample := ruledServer(t), newSample(t, 1<<20)
	torrent := sample.torrent()
	torrent.Trackers, torrent.Named = []string{named.URL, other.URL}, []string{named.URL}
	sw := newSwarm(t.Context(), s, startNode(t, "A", sample.torrent(), 0).seed(t, sample), torrent)
	for _, url := range torrent.Trackers {
		client, _, err := sw.newAnnouncer(url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Announce(t.Context(), anacrolix.AnnounceRequest{}, anacrolix.AnnounceOpt{})
		if (err == nil) != (url == named.URL) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if named.conns.Load() != 1 || other.conns.Load() != 0 {
		t.Errorf("%d and %d connections", named.conns.Load(), other.conns.Load())
	}
}

// TestHTTPSTracker asks a tracker whose certificate is not valid, and one whose certificate is.
func TestHTTPSTracker(t *testing.T) {
	t.Parallel()
	tr := newService(t, true, noPeers)
	url := tr.URL + "/announce"
	server := ruledServer(t, url)
	waitProblem(t, server, newSample(t, 1<<10), []string{url}, nil, "invalid certificate", "unknown authority")
	if n := tr.requests.Load(); n != 0 {
		t.Errorf("%d announces to a tracker without a valid certificate", n)
	}
	h := httpTrackerOf(t, url)
	h.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{
		RootCAs: tr.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
	}
	if _, err := h.Announce(t.Context(), anacrolix.AnnounceRequest{}, anacrolix.AnnounceOpt{}); err != nil || tr.requests.Load() != 1 {
		t.Errorf("%d announces with a valid certificate, %v", tr.requests.Load(), err)
	}
}

func httpTrackerOf(t *testing.T, text string) *httpTracker {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return newHTTPTracker(u, &trackerDialer{})
}

// TestTrackerReplies checks redirects and invalid replies. The error does not contain the URL.
func TestTrackerReplies(t *testing.T) {
	t.Parallel()
	text := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/announce" {
				http.Redirect(w, r, to, http.StatusFound)
			} else {
				noPeers(w, r)
			}
		}
	}
	status := func(line string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = c.Write([]byte("HTTP/1.1 " + line + "\r\n\r\n"))
		}
	}
	for _, tt := range []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"no peers", noPeers, ""},
		{"a text in the status", status("500 secret"), "status 500 Internal Server Error"},
		{"a long status", status("500 " + strings.Repeat("secret", maxReplyHeader)), "response headers exceeded"},
		{"another path", redirect("/other"), ""},
		{"another host", redirect("http://localhost:1/announce"), "redirect to another host, localhost"},
		{"a loop", redirect("/announce"), "more than 5 redirects"},
		{"an error", text(http.StatusForbidden, "secret"), "status 403 Forbidden"},
		{"a page", text(http.StatusOK, "<html>secret"), "not the reply of a tracker"},
		{"a failure", text(http.StatusOK, "d14:failure reason4:busye"), `announce rejected: "busy"`},
		{"too long", text(http.StatusOK, strings.Repeat("x", maxAnnounceReply+1)), "reply of more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := httpTrackerOf(t, newService(t, false, tt.handle).URL+"/announce")
			_, err := h.Announce(t.Context(), anacrolix.AnnounceRequest{}, anacrolix.AnnounceOpt{})
			switch {
			case (err == nil) != (tt.want == ""), err != nil && !strings.Contains(err.Error(), tt.want):
				t.Errorf("error %v, want %q", err, tt.want)
			case err != nil && (strings.Contains(err.Error(), "info_hash") || strings.Contains(err.Error(), "secret")):
				t.Errorf("error %v", err)
			}
		})
	}
	secure := &http.Request{URL: &url.URL{Scheme: "https", Host: "a:1"}}
	if err := checkRedirect(&http.Request{URL: &url.URL{Scheme: "http", Host: "a:1"}}, []*http.Request{secure}); err == nil {
		t.Error("a redirect from HTTPS to HTTP is followed")
	}
}
