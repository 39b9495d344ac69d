package control

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// pipeClient returns a client of a server with a node.
func pipeClient(t *testing.T) (*Client, *peer.Node) {
	t.Helper()
	data, err := os.MkdirTemp("", "mob") // short, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(data) })
	n := peertest.Start(t, "A")
	ln, err := Listen(data, "")
	if err != nil {
		t.Fatal(err)
	}
	s, served := NewServer(Config{Node: n, Data: data}), make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Shutdown(t.Context()), <-served); err != nil {
			t.Error(err)
		}
	})
	c, err := Dial(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return c, n
}

// TestSeedPipe seeds bytes that follow a request, and gets them back.
func TestSeedPipe(t *testing.T) {
	c, _ := pipeClient(t)
	content := bytes.Repeat([]byte("content "), 300_000)
	st, err := c.SeedPipe(t.Context(), SeedRequest{Name: "pipe"}, bytes.NewReader(content), func(int64, int64) {})
	if err != nil || st.Name != "pipe" || st.Length != int64(len(content)) {
		t.Fatalf("%+v, %v", st, err)
	}
	var out bytes.Buffer
	if _, err := c.GetTo(t.Context(), GetRequest{Link: st.Link}, &out); err != nil || !bytes.Equal(out.Bytes(), content) {
		t.Errorf("got %d bytes, %v", out.Len(), err)
	}
}

// TestSeedPipeCut checks that an input that fails leaves no transfer.
func TestSeedPipeCut(t *testing.T) {
	c, n := pipeClient(t)
	failed := errors.New("input failed")
	in := io.MultiReader(strings.NewReader("the beginning"), iotest.ErrReader(failed))
	if _, err := c.SeedPipe(t.Context(), SeedRequest{Name: "pipe"}, in, func(int64, int64) {}); !errors.Is(err, failed) {
		t.Error(err)
	}
	if all := n.Transfers(); len(all) > 0 {
		t.Errorf("left %v", all[0].Status())
	}
}

// TestGetWaitsForCall gets content whose transfer another call holds. The client receives the reason until that call ends.
func TestGetWaitsForCall(t *testing.T) {
	c, n := pipeClient(t)
	seed, link, _ := peertest.SeedRandom(t, n, 100, peer.SeedOptions{})
	if err := seed.Stop(); err != nil {
		t.Fatal(err)
	}
	held, ended := make(chan struct{}), make(chan struct{})
	end, verified := sync.OnceFunc(func() { close(ended) }), make(chan struct{})
	defer func() {
		end()
		<-verified
	}()
	go func() {
		defer close(verified)
		_, _ = seed.Verify(t.Context(), func(int64, int64) {
			close(held)
			<-ended
		})
	}()
	<-held
	st, err := c.Get(t.Context(), GetRequest{Link: link.String(), Path: seed.Status().Root}, func(st peer.Status) {
		if st.Waiting == waitsToStart {
			end()
		}
	})
	if err != nil || st.Phase != peer.Whole {
		t.Errorf("%+v, %v", st, err)
	}
}
