package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/goleak"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/peertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answerWith listens on the control socket of a directory and calls f for each client.
func answerWith(t *testing.T, f func(net.Conn)) (data string) {
	t.Helper()
	data, err := os.MkdirTemp("", "mob") // short, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(data) })
	ln, err := Listen(data, "")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			f(c)
			c.Close()
		}
	}()
	return data
}

// readRequest reads a request.
func readRequest(c net.Conn) {
	if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

func TestDialOther(t *testing.T) {
	for name, answer := range map[string]string{
		"garbage":       "\x00\x01\x02 what?\n\n",
		"another":       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"not found":     "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}",
		"another shape": "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"id\":1}",
	} {
		t.Run(name, func(t *testing.T) {
			data := answerWith(t, func(c net.Conn) {
				readRequest(c)
				_, _ = io.WriteString(c, answer)
			})
			_, err := Dial(context.Background(), data)
			if err == nil || !strings.Contains(err.Error(), "does not answer as mobd does") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
		})
	}
}

// TestDialClosed checks that the end of a connection, early or late, has its own text: a user may have too many of them.
func TestDialClosed(t *testing.T) {
	for name, f := range map[string]func(net.Conn){
		"before":     func(net.Conn) {},
		"unanswered": readRequest,
		"in the head": func(c net.Conn) {
			readRequest(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		},
		"in the body": func(c net.Conn) {
			readRequest(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"id\":")
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := answerWith(t, f)
			for range 100 { // it may be closed before, while and after the request is sent
				_, err := Dial(t.Context(), data)
				if err == nil || !strings.Contains(err.Error(), "the daemon closed the connection") {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestDialHungDaemon(t *testing.T) {
	release := make(chan struct{})
	data := answerWith(t, func(net.Conn) { <-release })
	t.Cleanup(func() { close(release) })
	_, err := dial(context.Background(), data, 50*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Fatalf("%v", err)
	}
}

// TestSlowRemove checks that a removal may take long, as for many files on a network file system.
func TestSlowRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			readRequest(there)
			time.Sleep(time.Hour)
			_, _ = io.WriteString(there, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+`{"id":"b"}`)
		}()
		c := newClient("data", "socket")
		c.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return here, nil }
		if r, err := c.Remove(t.Context(), "a", true); err != nil || r.ID != "b" {
			t.Errorf("%q, %v", r.ID, err)
		}
	})
}

func TestDialNoDaemon(t *testing.T) {
	for _, data := range []string{t.TempDir(), "/no/such/folder", "/dev/null"} {
		_, err := Dial(context.Background(), data)
		var none *NoDaemonError
		if !errors.As(err, &none) || none.Data != data {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestListenReplacesOnlySockets(t *testing.T) {
	data, err := os.MkdirTemp("", "mob")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(data)
	first, err := Listen(data, "")
	if err != nil {
		t.Fatal(err)
	}
	first.(*datadir.Socket).UnixListener.Close() // as a killed daemon would
	second, err := Listen(data, "")
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(data, SocketName)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", fi, err)
	}
	second.Close()
	if err := os.WriteFile(filepath.Join(data, SocketName), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(data, ""); err == nil {
		t.Error("Listen replaced a file")
	}
}

func TestStreamEnds(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
	for _, c := range []struct{ name, body, want string }{
		{"early", `{"status":{"name":"x"}}` + "\n", "the daemon exited"},
		{"with garbage", "{{{\n", "does not answer as mobd does"},
		{"with an error", `{"error":{"code":"failed","text":"the disk is full"}}` + "\n", "the disk is full"},
		{"stopped", `{"error":{"code":"stopped","text":"stopped"}}` + "\n", "stopped"},
		{"well", `{"status":{"name":"x"},"done":true}` + "\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := answerWith(t, func(conn net.Conn) {
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = io.WriteString(conn, head+c.body)
			})
			path, err := socketPath(data)
			if err != nil {
				t.Fatal(err)
			}
			client := newClient(data, path)
			client.Info.ID = "dialled"
			_, err = client.Get(context.Background(), GetRequest{}, func(peer.Status) {})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.name == "stopped" && !errors.Is(err, peer.ErrStopped) {
				t.Error("the error does not match peer.ErrStopped")
			}
		})
	}
}

// TestStreamOfPausedTerminal pauses the terminal at each event of a stream. The daemon is hung if it sends none for 20 s.
func TestStreamOfPausedTerminal(t *testing.T) {
	for _, c := range []struct {
		terminal, daemon time.Duration
		hung             bool
	}{
		{time.Hour, time.Second, false},
		{0, 19 * time.Second, false},
		{0, 22 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			events, daemon := io.Pipe()
			var sending sync.WaitGroup
			defer sending.Wait()
			defer events.Close()
			sending.Go(func() {
				for _, line := range []string{`{"status":{}}`, `{"status":{}}`, `{"status":{},"done":true}`} {
					time.Sleep(c.daemon)
					_, _ = io.WriteString(daemon, line+"\n")
				}
			})
			var client Client
			client.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				context.AfterFunc(r.Context(), func() { daemon.CloseWithError(context.Canceled) })
				return &http.Response{StatusCode: http.StatusOK, Body: events}, nil
			})
			_, err := client.Get(t.Context(), GetRequest{}, func(peer.Status) { time.Sleep(c.terminal) })
			if hung := err != nil && strings.Contains(err.Error(), "does not answer"); hung != c.hung || err != nil && !hung {
				t.Errorf("%+v: %v", c, err)
			}
		})
	}
}

// roundTrip answers requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestUnknownFields sends fields of a later version in both directions.
func TestUnknownFields(t *testing.T) {
	t.Run("in a request", func(t *testing.T) {
		r := httptest.NewRequest("POST", "/v1/get", strings.NewReader(`{"link":"x","path":"/x","later":{"a":[1]}}`))
		var req GetRequest
		_, err := request(func(_ *http.Request, got GetRequest) (any, error) { req = got; return nil, nil })(r)
		if err != nil || req.Link != "x" || req.Path != "/x" {
			t.Errorf("%+v, %v", req, err)
		}
	})
	t.Run("in a reply", func(t *testing.T) {
		const reply = `{"id":"it","cluster":"A","later":{"a":[1]}}`
		data := answerWith(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(reply), reply)
		})
		c, err := Dial(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		if c.Info.ID != "it" || c.Info.Cluster != "A" {
			t.Errorf("%+v", c.Info)
		}
	})
	t.Run("in a stream", func(t *testing.T) {
		data := answerWith(t, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+
				`{"later":1,"status":{"name":"x","later":{"a":[1]}}}`+"\n"+`{"status":{"name":"y"},"done":true,"later":2}`+"\n")
		})
		path, err := socketPath(data)
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(data, path)
		if st, err := c.Get(t.Context(), GetRequest{}, func(peer.Status) {}); err != nil || st.Name != "y" {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// TestInvalidRequests sends requests that no client sends.
func TestInvalidRequests(t *testing.T) {
	data, err := os.MkdirTemp("", "mob")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(data)
	ln, err := Listen(data, "")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Config{Data: data})
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	client := newClient(data, filepath.Join(data, SocketName))
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/v1/get", "garbage", http.StatusBadRequest},
		{"/v1/get", `{"link":"x","path":"relative"}`, http.StatusBadRequest},
		{"/v1/get", `{"link":"x","path":"/x"}`, http.StatusConflict},
		{"/v1/get", `{"link":"` + strings.Repeat("x", maxRequest) + `"}`, http.StatusBadRequest},
		{"/v1/seed", `{"path":"relative"}`, http.StatusBadRequest},
		{"/v1/seed", `{"path":"/x","trackers":["/nonsense"]}`, http.StatusBadRequest},
		{"/v1/describe", `{"link":"x"}`, http.StatusConflict},
		{"/v1/nothing", `{}`, http.StatusNotFound},
	} {
		resp, err := client.http.Post("http://mobd"+c.path, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s %.40s: %s", c.path, c.body, resp.Status)
		}
	}
	c, err := net.Dial("unix", filepath.Join(data, SocketName))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "\x16\x03garbage\r\n\r\n")
	b, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(b), "HTTP/1.1 400") {
		t.Errorf("answer to garbage: %q", b)
	}
	c.Close()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestClientLeaves ends a get of content that no node has. The transfer stays,
// other calls are answered until then, and no handler is left.
func TestClientLeaves(t *testing.T) {
	data, err := os.MkdirTemp("", "mob")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(data)
	node, err := peer.Start(peer.Config{
		Data:    data,
		Cluster: "A",
		Listen:  []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")},
		Log:     slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	ln, err := Listen(data, "")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Config{Node: node, Data: data})
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	client, err := Dial(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	const link = "magnet:?xt=urn:mob:bafyreide4klehe5jqyl3lttecsx2af52diz73bacwpat62sugj24l6an6u&dn=x"
	_, err = client.Get(ctx, GetRequest{Link: link, Path: filepath.Join(t.TempDir(), "x")}, func(st peer.Status) {
		if st.ID == "" {
			return // it is not known yet
		}
		if list, err := client.Transfers(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("during the get: %v, %v", list, err)
		}
		leave()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("get: %v", err)
	}
	if st, err := client.Transfer(t.Context(), link); err != nil || st.Phase != peer.Seeking {
		t.Errorf("after the get: %v, %v", st.Phase, err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestClientLeft checks that a get does not start content that its client, which has left, could not stop.
func TestClientLeft(t *testing.T) {
	n := peertest.Start(t, "A")
	const link = "magnet:?xt=urn:mob:bafyreide4klehe5jqyl3lttecsx2af52diz73bacwpat62sugj24l6an6u&dn=x"
	path := filepath.Join(t.TempDir(), "x")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/get"+placeQuery(path), nil)
	answer, err := NewServer(Config{Node: n}).get(r, GetRequest{Link: link, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answer.(task).run(ctx); err != nil {
		t.Error(err)
	}
	get, err := n.Transfer(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := get.Err(); !errors.Is(err, peer.ErrStopped) {
		t.Errorf("the get has ended with %v", err)
	}
}
