package launch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestNeighbors checks that the remote shell uploads the archive to each of two clusters once.
func TestNeighbors(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ps := absent(t)
	c := New(Config{Shell: s.counting(), Programs: ps})
	var wg sync.WaitGroup
	for i := range 8 {
		host, cluster := fmt.Sprint("n", i), fmt.Sprint("c", i%2)
		wg.Go(func() {
			p, err := c.Start(t.Context(), host, cluster, noNote)
			if err != nil {
				t.Errorf("%s: %v", host, err)
				return
			}
			t.Cleanup(func() { s.finish(p) })
		})
	}
	wg.Wait()
	sent := map[int]int{}
	for i := range 8 {
		if s.sent(fmt.Sprint("n", i)) {
			sent[i%2]++
		}
	}
	if sent[0] != 1 || sent[1] != 1 {
		t.Errorf("into the clusters the remote shell uploaded it %v times", sent)
	}
}

// TestInstalledServes checks that a host that had the program serves it to one that did not.
func TestInstalledServes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ps, err := found()
	if err != nil {
		t.Fatal(err)
	}
	program := ps.all[0]
	self, err := os.ReadFile(program.path)
	if err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.dir, "n1/home/.cache/mob", program.name+"-"+program.version()), self)
	c := New(Config{Shell: s.counting(), Programs: absent(t)})
	s.start(c, "n1")
	s.ask(s.start(c, "n2"), "one")
	if s.sent("n1") || s.sent("n2") {
		t.Error("the remote shell uploaded it")
	}
}

// neighbor adds a server to the depot of a cluster.
func (s *site) neighbor(c *Launcher, handler http.HandlerFunc) {
	h := httptest.NewServer(handler)
	s.Cleanup(h.Close)
	hello := Hello{Path: "x", Addrs: []string{h.Listener.Addr().String()}}
	c.depotOf(place{"A", c.cfg.Programs.all[0].platform}).add(&server{Hello: hello})
}

// TestBadNeighbors checks that data of a bad server is never executed, and the remote shell
// uploads the program.
func TestBadNeighbors(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"damaged": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "#!/bin/sh\necho this must not run\n")
		},
		"not there": http.NotFound,
		"dies": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			_, _ = w.Write(make([]byte, 300000))
			panic(http.ErrAbortHandler)
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) { floods(t, w) },
		"endless header": func(w http.ResponseWriter, _ *http.Request) {
			c, b, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = b.WriteString("HTTP/1.0 200 OK\r\nX: ")
			floods(t, b)
		},
	} {
		for _, by := range []string{"curl", "wget", "bash"} {
			t.Run(name+"/"+by, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				s.tools("gzip", "sha256sum", by)
				c := New(Config{Shell: s.counting(), Programs: absent(t)})
				s.neighbor(c, handler)
				p := s.start(c, "n1")
				s.ask(p, "one")
				if b := s.messages("n1"); !bytes.HasPrefix(b, []byte("get ")) || !bytes.Contains(b, []byte("\nput ")) {
					t.Errorf("it was sent %.80q", b)
				}
				s.finish(p)
				s.empty("n1")
			})
		}
	}
}

// TestNeighborRedirects checks that a malicious server cannot have other hosts send requests elsewhere.
func TestNeighborRedirects(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"curl", "wget", "bash"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			if version, _ := exec.Command(needs(t, by), "--version").Output(); by == "wget" && !bytes.Contains(version, []byte("GNU")) {
				t.Skip("not the wget of GNU")
			}
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect is followed") }))
			defer elsewhere.Close()
			s := newSite(t)
			s.tools("gzip", "sha256sum", by)
			c := New(Config{Shell: s.counting(), Programs: absent(t)})
			s.neighbor(c, http.RedirectHandler(elsewhere.URL, http.StatusFound).ServeHTTP)
			s.ask(s.start(c, "n1"), "one")
		})
	}
}

// floods writes until the reader has gone, which must be before a host has read several times the size of the program.
func floods(t *testing.T, w io.Writer) {
	for range 256 {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			return
		}
	}
	t.Error("the host reads without end")
}

// TestSilentNeighbor checks that a server that sends nothing is given up without help of the downloader.
func TestSilentNeighbor(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds")
	}
	t.Parallel()
	s := newSite(t)
	s.tools("gzip", "sha256sum", "bash")
	c := New(Config{Shell: s.counting(), Programs: absent(t)})
	c.times.upload = 5 * time.Second
	s.neighbor(c, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p := s.start(c, "n1")
	if s.ask(p, "one"); !s.sent("n1") {
		t.Error("it was not uploaded by the remote shell")
	}
	s.finish(p)
	s.empty("n1")
}
