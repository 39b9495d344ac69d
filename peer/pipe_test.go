package peer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// seedBytes seeds bytes at a node. The link is the test's to change.
func seedBytes(t *testing.T, n *peer.Node, b []byte, opt peer.SeedOptions) (*peer.Transfer, *proto.Link) {
	t.Helper()
	seed, err := n.SeedBytes("bytes", b, opt)
	if err != nil {
		t.Fatal(err)
	}
	link := *seed.Link()
	return seed, &link
}

// entries returns the paths below a directory.
func entries(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPipe seeds from a reader and gets to a writer, with bytes in memory and in a file without a name. The data
// directories are as before.
func TestPipe(t *testing.T) {
	t.Parallel()
	for name, memory := range map[string]int64{"memory": 4 << 20, "file": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			dirs := []string{t.TempDir(), t.TempDir()}
			a, b := peertest.Start(t, "A", peertest.Data(dirs[0])), peertest.Start(t, "B", peertest.Data(dirs[1]))
			before := append(entries(t, dirs[0]), entries(t, dirs[1])...)
			_, content := peertest.RandomFile(t, 3<<20+17)
			seed, err := a.SeedReader(t.Context(), "pipe", bytes.NewReader(content), peer.SeedOptions{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			link := *seed.Link()
			n, err := b.GetTo(t.Context(), &link, &out, peer.GetOptions{})
			if err != nil || n != int64(len(content)) || !bytes.Equal(out.Bytes(), content) {
				t.Fatalf("got %d bytes, %v", n, err)
			}
			if after := append(entries(t, dirs[0]), entries(t, dirs[1])...); !equalStrings(before, after) {
				t.Errorf("entries of the data directories: %v, before %v", after, before)
			}
			get, err := b.Transfer(link.String())
			if err != nil || get.Status().Phase != peer.Whole || get.Status().Name != "pipe" {
				t.Fatalf("transfer after the get: %v, %v", get, err)
			}
			if _, err := b.Remove(get, false); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Transfer(link.String()); !errors.Is(err, peer.ErrUnknownTransfer) {
				t.Errorf("transfer after Remove: %v", err)
			}
		})
	}
}

func equalStrings(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// TestPipeRelay gets from a node that got the content to a writer, and from the seed of a file.
func TestPipeRelay(t *testing.T) {
	t.Parallel()
	a, b, c := peertest.Start(t, "A"), peertest.Start(t, "A"), peertest.Start(t, "A")
	_, content := peertest.RandomFile(t, 1<<20)
	seed, link := seedBytes(t, a, content, peer.SeedOptions{})
	if got, err := b.GetBytes(t.Context(), link, 1<<20); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("first get: %v", err)
	}
	if _, err := a.Remove(seed, false); err != nil {
		t.Fatal(err)
	}
	link.Peers = b.Addrs()
	if got, err := c.GetBytes(t.Context(), link, 1<<20); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("second get: %v", err)
	}
	// The node has the content already.
	if got, err := c.GetBytes(t.Context(), link, 1<<20); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("get again: %v", err)
	}
}

// TestPipeOfFile gets content to a writer from the node that seeds it, and checks that changed bytes are not written, nor waited
// for once they are known to be damaged.
func TestPipeOfFile(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	path, content := peertest.RandomFile(t, 1<<20)
	seed, link := peertest.Seed(t, n, path, peer.SeedOptions{})
	if got, err := n.GetBytes(t.Context(), link, 1<<20); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("get: %v", err)
	}
	if err := peertest.Flip(path, 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), peertest.WaitTimeout)
	defer cancel()
	for _, when := range []string{"read", "known"} {
		if got, err := n.GetBytes(ctx, link, 1<<20); err == nil || !strings.Contains(err.Error(), "was changed") {
			t.Errorf("get of a changed file, damage %s: %d bytes, %v", when, len(got), err)
		}
		if _, err := seed.Verify(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

var errWriter = errors.New("writer failed")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errWriter
	}
	return len(p), nil
}

// TestPipeTwice gets content to two writers. The first fails. The transfer ends with the second get, or with its
// release after success.
func TestPipeTwice(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	_, content := peertest.RandomFile(t, 1<<20)
	_, link := seedBytes(t, a, content, peer.SeedOptions{PieceLength: 256 << 10})
	for _, why := range []error{nil, errWriter} {
		first, second := make(chan error, 1), make(chan error, 1)
		failing, out := newStoppedWriter(errWriter), newStoppedWriter(why)
		go func() { _, err := b.GetTo(t.Context(), link, failing, peer.GetOptions{}); first <- err }()
		<-failing.called
		get, err := b.Transfer(link.String())
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, err := b.GetTo(t.Context(), link, out, peer.GetOptions{}); second <- err }()
		<-out.called
		close(failing.let)
		if err := <-first; !errors.Is(err, errWriter) {
			t.Errorf("first get: %v", err)
		}
		close(out.let)
		if err := <-second; !errors.Is(err, why) || why == nil && !bytes.Equal(out.Bytes(), content) {
			t.Errorf("second get: %d bytes, %v, want %v", out.Len(), err, why)
		}
		if why == nil {
			if err := b.Release(get); err != nil {
				t.Error(err)
			}
		}
		if all := b.Transfers(); len(all) > 0 {
			t.Fatalf("left %v", all[0].Status())
		}
	}
}

// TestPipeHeld checks that the transfer of a get outlasts the release of another call that returned it.
func TestPipeHeld(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	_, content := peertest.RandomFile(t, 1<<20)
	_, link := seedBytes(t, a, content, peer.SeedOptions{})
	get := func() error { _, err := b.GetBytes(t.Context(), link, 1<<20); return err }
	seed := func() error { _, err := b.SeedBytes("bytes", content, peer.SeedOptions{}); return err }
	for name, again := range map[string]func() error{"get": get, "seed": seed} {
		if err := errors.Join(get(), again()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		first, err := b.Transfer(link.String())
		if err := errors.Join(err, b.Release(first)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := get(); err != nil || len(b.Transfers()) != 1 {
			t.Errorf("%s: %d transfers after a release, %v", name, len(b.Transfers()), err)
		}
		if err := errors.Join(b.Release(first), b.Release(first)); err != nil || len(b.Transfers()) > 0 {
			t.Errorf("%s: %d transfers after the last release, %v", name, len(b.Transfers()), err)
		}
	}
}

// TestPipePriority checks that transfers without a path have a priority.
func TestPipePriority(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	seed, link := seedBytes(t, a, []byte("content"), peer.SeedOptions{Priority: limit.Low})
	if _, err := b.GetTo(t.Context(), link, io.Discard, peer.GetOptions{Priority: limit.High}); err != nil {
		t.Fatal(err)
	}
	get, err := b.Transfer(link.String())
	if err != nil || get.Status().Priority != limit.High || seed.Status().Priority != limit.Low {
		t.Errorf("priorities: get %q, seed %q, %v", get.Status().Priority, seed.Status().Priority, err)
	}
	if _, err := a.SeedBytes("bytes", []byte("content"), peer.SeedOptions{Priority: limit.High}); err != nil || seed.Status().Priority != limit.High {
		t.Errorf("priority of a second seed: %q, %v", seed.Status().Priority, err)
	}
}

// stoppedWriter waits in each Write until let is closed, and closes called before that.
type stoppedWriter struct {
	bytes.Buffer
	err         error
	called, let chan struct{}
}

func newStoppedWriter(err error) *stoppedWriter {
	return &stoppedWriter{err: err, called: make(chan struct{}), let: make(chan struct{})}
}

func (w *stoppedWriter) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		close(w.called)
	}
	<-w.let
	if w.err != nil {
		return 0, w.err
	}
	return w.Buffer.Write(p)
}

// TestPipeErrors checks that a get that fails leaves no transfer.
func TestPipeErrors(t *testing.T) {
	t.Parallel()
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B")
	_, content := peertest.RandomFile(t, 1<<20)
	_, link := seedBytes(t, a, content, peer.SeedOptions{PieceLength: 256 << 10})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, tree := peertest.Seed(t, a, dir, peer.SeedOptions{})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	nowhere := *link
	nowhere.Manifest, nowhere.Peers = proto.ManifestCID([]byte("other")), nil
	for name, get := range map[string]struct {
		run  func() error
		want string
	}{
		"writer": {func() error {
			n, err := b.GetTo(t.Context(), link, &failingWriter{left: 600 << 10}, peer.GetOptions{})
			if n != 512<<10 {
				t.Errorf("%d bytes written", n)
			}
			return err
		}, "writer failed"},
		"directory": {func() error {
			_, err := b.GetTo(t.Context(), tree, io.Discard, peer.GetOptions{})
			return err
		}, "give a directory with -o, or seed an archive"},
		"limit": {func() error {
			_, err := b.GetBytes(t.Context(), link, 1<<20-1)
			return err
		}, "which is more than 1048575"},
		"context": {func() error {
			_, err := b.GetTo(canceled, &nowhere, io.Discard, peer.GetOptions{})
			return err
		}, "context canceled"},
	} {
		if err := get.run(); err == nil || !strings.Contains(err.Error(), get.want) {
			t.Errorf("%s: %v, want %q", name, err, get.want)
		}
		if all := b.Transfers(); len(all) > 0 {
			t.Errorf("%s: left %v", name, all[0].Status())
		}
	}
	for name, opt := range map[string]peer.SeedOptions{"torrent": {Torrent: true}, "piece length": {PieceLength: 3}} {
		if _, err := b.SeedReader(t.Context(), "x", strings.NewReader("x"), opt); err == nil {
			t.Errorf("seed with an invalid %s: no error", name)
		}
	}
	if _, err := b.SeedReader(t.Context(), "x", iotest.ErrReader(errWriter), peer.SeedOptions{}); !errors.Is(err, errWriter) {
		t.Errorf("seed of a reader that fails: %v", err)
	}
	if all := b.Transfers(); len(all) > 0 {
		t.Errorf("left %v", all[0].Status())
	}
}

// TestPipeKnown checks what happens to other calls for content that is not at a path.
func TestPipeKnown(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	_, content := peertest.RandomFile(t, 1<<20)
	seed, link := seedBytes(t, n, content, peer.SeedOptions{})
	if again, _ := seedBytes(t, n, content, peer.SeedOptions{}); again != seed {
		t.Error("a second seed is another transfer")
	}
	if _, err := n.Get(link, filepath.Join(t.TempDir(), "out"), peer.GetOptions{}); err == nil {
		t.Error("get to a path: no error")
	}
	if err := seed.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.SeedBytes("bytes", content, peer.SeedOptions{}); err == nil {
		t.Error("seed of a stopped transfer: no error")
	}
	if _, err := n.GetBytes(t.Context(), link, 1<<20); !errors.Is(err, peer.ErrStopped) {
		t.Errorf("get of a stopped transfer: %v", err)
	}
}
