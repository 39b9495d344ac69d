package web

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// serve serves handlers that answer with a word, and returns a function that asks.
func serve(t *testing.T, cfg Config) (*Server, func(method, path string, header ...string) (int, string)) {
	t.Helper()
	cfg.Data = t.TempDir()
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	word := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	}
	s.Handle("/page", word("page"))
	s.HandleOwner("/v1/", word("owner"))
	s.HandleOpen("GET /healthz", word("ok"))
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	client := &http.Client{
		Transport:     &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dial(s) }},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return s, func(method, path string, header ...string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
			if header[i] == "Host" {
				req.Host = header[i+1]
			}
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if resp.Header.Get("Set-Cookie") != "" {
			return resp.StatusCode, resp.Header.Get("Set-Cookie")
		}
		return resp.StatusCode, string(b)
	}
}

func dial(s *Server) (net.Conn, error) {
	if s.addr.unix() {
		return net.Dial("unix", s.addr.path)
	}
	_, port, err := net.SplitHostPort(s.ln.Addr().String())
	if err != nil {
		return nil, err
	}
	return net.Dial("tcp", "127.0.0.1:"+port)
}

// Who may ask what, by the address that the server listens on and what the request has.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	const get, post = http.MethodGet, http.MethodPost
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0", "unix:"} {
		t.Run(listen, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Listen: listen}
			if listen == "unix:" {
				cfg.Listen += filepath.Join(t.TempDir(), "page.sock")
			}
			s, ask := serve(t, cfg)
			unix := s.addr.unix()
			status := func(free bool) int {
				if free || unix {
					return http.StatusOK
				}
				return http.StatusUnauthorized
			}
			expect := func(want int, method, path string, header ...string) {
				t.Helper()
				if got, _ := ask(method, path, header...); got != want {
					t.Errorf("%s %s %v: %d, want %d", method, path, header, got, want)
				}
			}
			expect(http.StatusOK, get, "/healthz")
			expect(http.StatusOK, get, "/healthz", "Host", "rebound.example")
			expect(status(s.addr.loopback()), get, "/page")
			expect(status(false), post, "/page")
			expect(status(false), get, "/v1/node")
			expect(status(false), get, "/v1/node", "Authorization", "Bearer wrong")
			expect(status(false), get, "/v1/node", "Authorization", "Bearer ")
			if unix {
				return
			}
			bearer := []string{"Authorization", "Bearer " + s.token.text}
			expect(http.StatusOK, get, "/page", bearer...)
			expect(http.StatusOK, post, "/page", bearer...)
			expect(http.StatusOK, post, "/v1/stop", bearer...)
			expect(http.StatusUnauthorized, get, "/page?token=wrong")
			got, cookie := ask(get, "/page?token="+s.token.text)
			if got != http.StatusSeeOther || !strings.Contains(cookie, "HttpOnly; SameSite=Strict") {
				t.Errorf("the token was answered with %d, %s", got, cookie)
			}
			cookie, _, _ = strings.Cut(cookie, ";")
			expect(http.StatusOK, get, "/page", "Cookie", cookie)
			expect(http.StatusOK, post, "/v1/stop", "Cookie", cookie)
			expect(http.StatusForbidden, post, "/v1/stop", "Cookie", cookie, "Sec-Fetch-Site", "cross-site")
		})
	}
}

// TestBodyOfGet checks that clients without the token do not fill the memory with bodies of requests that have none.
func TestBodyOfGet(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, Config{Listen: "127.0.0.1:0"})
	for size, want := range map[int]int{maxHeader: http.StatusOK, maxHeader + 1: http.StatusBadRequest} {
		c, err := dial(s)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != want {
			t.Errorf("%d bytes: %v, %v, want status %d", size, resp, err, want)
		}
	}
}

// TestCookie checks that a cookie does not have the token, and is valid for 12 hours and until the restart.
func TestCookie(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		token := token{text: "0123456789abcdef"}
		start := func(secret string) *Server { return &Server{ln: fakeListener{}, token: token, secret: []byte(secret)} }
		first, second := start("first"), start("second")
		first.addr.host, second.addr.host = "0.0.0.0", "0.0.0.0"
		cookie := first.newCookie()
		owned := func(s *Server, value string) bool {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.AddCookie(&http.Cookie{Name: cookie.Name, Value: value})
			return s.owned(r)
		}
		if strings.Contains(cookie.String(), token.text) || !cookie.Expires.Equal(time.Now().Add(cookieLife)) {
			t.Errorf("the cookie is %s", cookie)
		}
		raw, err := base64.RawURLEncoding.DecodeString(cookie.Value)
		if err != nil {
			t.Fatal(err)
		}
		raw[7] ^= 1 // another end
		for what, c := range map[string]struct {
			server *Server
			value  string
			want   bool
		}{
			"valid":                {first, cookie.Value, true},
			"after a restart":      {second, cookie.Value, false},
			"with another end":     {first, base64.RawURLEncoding.EncodeToString(raw), false},
			"the token":            {first, token.text, false},
			"empty":                {first, "", false},
			"cut off":              {first, cookie.Value[:20], false},
			"with more at its end": {first, cookie.Value + "AAAA", false},
		} {
			if got := owned(c.server, c.value); got != c.want {
				t.Errorf("a cookie that is %s: %t", what, got)
			}
		}
		time.Sleep(cookieLife - time.Second)
		if !owned(first, cookie.Value) {
			t.Error("the cookie ends early")
		}
		time.Sleep(time.Second)
		if owned(first, cookie.Value) {
			t.Error("the cookie does not end")
		}
	})
}

// fakeListener is a listener that only has an address.
type fakeListener struct{ net.Listener }

func (fakeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero, Port: 8080} }

// TestUnknownHostRejected sends the name of a page that was rebound to this machine.
func TestUnknownHostRejected(t *testing.T) {
	t.Parallel()
	_, ask := serve(t, Config{Listen: "127.0.0.1:0", Hosts: []string{"Node7.example.org"}})
	for host, want := range map[string]int{
		"rebound.example:8080":    http.StatusMisdirectedRequest,
		"localhost.example":       http.StatusMisdirectedRequest,
		"127.0.0.1.example":       http.StatusMisdirectedRequest,
		"localhost:1":             http.StatusOK,
		"127.0.0.1":               http.StatusOK,
		"[::1]:8080":              http.StatusOK,
		"node7.example.org.:8080": http.StatusOK,
	} {
		if got, _ := ask(http.MethodGet, "/page", "Host", host); got != want {
			t.Errorf("Host %s: %d, want %d", host, got, want)
		}
	}
}

// TestOtherOriginRejected checks requests of another site: only a link to the page is answered.
func TestOtherOriginRejected(t *testing.T) {
	t.Parallel()
	s, ask := serve(t, Config{Listen: "127.0.0.1:0"})
	bearer := "Bearer " + s.token.text
	for _, c := range []struct {
		method string
		header []string
		want   int
	}{
		{http.MethodPost, []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		{http.MethodPost, []string{"Origin", "null"}, http.StatusForbidden},
		{http.MethodPost, []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{http.MethodPost, []string{"Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		{http.MethodPost, []string{"Origin", "http://localhost"}, http.StatusOK},
		{http.MethodGet, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, http.StatusForbidden},
		{http.MethodGet, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, http.StatusForbidden},
		{http.MethodGet, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusOK},
		{http.MethodPost, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusForbidden},
	} {
		got, _ := ask(c.method, "/page", append(c.header, "Authorization", bearer)...)
		if got != c.want {
			t.Errorf("%s %v: %d, want %d", c.method, c.header, got, c.want)
		}
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made, err := loadToken("", dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := loadToken("", dir)
	if err != nil || again != made {
		t.Errorf("the token of the second start is %+v, %v", again, err)
	}
	if fi, err := os.Stat(made.file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", fi.Mode(), err)
	}
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"readable": {"0123456789abcdef", 0o644, "can be read by other users (mode 0644): `chmod 600 "},
		"short":    {"0123456789", 0o600, "does not have a token"},
		"cookie":   {"0123456789;abcdef", 0o600, "does not have a token"},
		"empty":    {"", 0o600, "does not have a token"},
		"missing":  {"", 0, "no such file"},
	} {
		file := filepath.Join(dir, name)
		if c.mode != 0 {
			if err := os.WriteFile(file, []byte(c.text), c.mode); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := loadToken(file, dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestListenFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "socket")
	first, err := Listen(Config{Listen: "unix:" + socket})
	if err != nil {
		t.Fatal(err)
	}
	for listen, want := range map[string]string{
		taken.Addr().String(): "another program listens on " + taken.Addr().String() + " already",
		"unix:" + file:        "is not a socket",
		"unix:" + socket:      "another program listens there already",
		"8080":                "give ADDR:PORT",
		"unix:":               "give unix:PATH",
	} {
		_, err := Listen(Config{Listen: listen, Data: dir})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", listen, err, want)
		}
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	// A stale socket is replaced.
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	second, err := Listen(Config{Listen: "unix:" + socket})
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(socket); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", fi, err)
	}
	second.Close()
}
