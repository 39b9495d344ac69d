package peer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// absent returns a link to content that no node has.
func absent(t *testing.T, name string) *proto.Link {
	t.Helper()
	id := proto.ManifestCID([]byte(name))
	link, err := proto.ParseLink("magnet:?xt=urn:mob:" + id.String() + "&dn=" + name)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// withPeer returns a link that names another peer, so that a get with it starts again.
func withPeer(t *testing.T, link *proto.Link) *proto.Link {
	t.Helper()
	other := *link
	other.Peers = peertest.LinkAddrs(t, peertest.Stranger(t))
	return &other
}

// TestStopAndGetAgain stops a get, gets the link again, and removes that.
func TestStopAndGetAgain(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	link, err := proto.ParseLink("magnet:?xt=urn:mob:bafyreihr4z5odw4k2lho2qesjywstoemylhgqxstzr6gb7iwlvvwm6bb7q&dn=nobody")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, n, link, out)
	peertest.Eventually(t, "word of what it waits for", func() bool {
		return strings.Contains(get.Status().Waiting, "no tracker")
	})
	if err := get.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := get.Wait(context.Background()); !errors.Is(err, peer.ErrStopped) {
		t.Errorf("wait after the stop: %v", err)
	}
	again := peertest.Get(t, n, link, out)
	if again != get || again.Status().Phase != peer.Seeking {
		t.Errorf("phase %s after the second get", again.Status().Phase)
	}
	if _, err := n.Get(link, out+"2", peer.GetOptions{}); err == nil {
		t.Error("one link has two destinations")
	}
	if _, err := n.Remove(again, true); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Transfer(link.Manifest.String()); !errors.Is(err, peer.ErrUnknownTransfer) {
		t.Errorf("after the removal: %v", err)
	}
}

// TestWaitOutlastsRestart waits for a transfer that another get restarts with a new link: the
// wait ends with the transfer, not before.
func TestWaitOutlastsRestart(t *testing.T) {
	t.Parallel()
	n, link, out := peertest.Start(t, "A"), absent(t, "nothing"), filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, n, link, out)
	waited := make(chan error, 1)
	go func() { waited <- get.Wait(context.Background()) }()
	for range 3 {
		peertest.Get(t, n, withPeer(t, link), out)
	}
	select {
	case err := <-waited:
		t.Fatalf("the wait ended with a restart: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := get.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, peer.ErrStopped) {
		t.Errorf("the wait ended with %v", err)
	}
}

// TestWaitForStopped waits for a transfer that was stopped before the node started.
func TestWaitForStopped(t *testing.T) {
	t.Parallel()
	data, link := t.TempDir(), absent(t, "nothing")
	n := peertest.Start(t, "A", peertest.Data(data))
	get := peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out"))
	if err := errors.Join(get.Stop(), n.Close()); err != nil {
		t.Fatal(err)
	}
	get, err := peertest.Start(t, "A", peertest.Data(data)).Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := get.Wait(context.Background()); !errors.Is(err, peer.ErrStopped) {
		t.Errorf("the wait ended with %v", err)
	}
}

// TestSeedAfterGet seeds the content of a get that has created nothing yet.
func TestSeedAfterGet(t *testing.T) {
	t.Parallel()
	path, content := peertest.RandomFile(t, 1<<20)
	_, link := peertest.Seed(t, peertest.Start(t, "A"), path, peer.SeedOptions{})
	link.Peers = nil
	n, out := peertest.Start(t, "B"), filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, n, link, out)
	if err := get.Stop(); err != nil {
		t.Fatal(err)
	}
	seed, link := peertest.Seed(t, n, path, peer.SeedOptions{})
	if seed != get || !seed.Status().Seed {
		t.Errorf("status %+v", seed.Status())
	}
	c := filepath.Join(t.TempDir(), "copy")
	peertest.Wait(t, peertest.Get(t, peertest.Start(t, "C"), link, c))
	peertest.EqualFile(t, c, content)
	if _, err := n.Remove(seed, true); err == nil {
		t.Error("what is seeded is deleted")
	}
}

// TestRootOfAnotherTransfer gets a stopped transfer to the place of another.
func TestRootOfAnotherTransfer(t *testing.T) {
	t.Parallel()
	n, dir := peertest.Start(t, "A"), t.TempDir()
	first, second := absent(t, "first"), absent(t, "second")
	stopped := peertest.Get(t, n, first, filepath.Join(dir, "first"))
	peertest.Get(t, n, second, filepath.Join(dir, "second"))
	if err := stopped.Stop(); err != nil {
		t.Fatal(err)
	}
	_, err := n.Get(first, filepath.Join(dir, "second"), peer.GetOptions{Reuse: true})
	if err == nil || !strings.Contains(err.Error(), "belongs to another transfer") {
		t.Errorf("two transfers have one root: %v", err)
	}
	moved := filepath.Join(dir, "third")
	if again := peertest.Get(t, n, first, moved); again != stopped || again.Status().Root != moved {
		t.Errorf("status %+v", again.Status())
	}
}

// TestStoppedStaysStopped gets a stopped transfer to the path of a file of the user's, which fails.
func TestStoppedStaysStopped(t *testing.T) {
	t.Parallel()
	n, dir := peertest.Start(t, "A"), t.TempDir()
	stopped := peertest.Get(t, n, absent(t, "nothing"), filepath.Join(dir, "out"))
	put(t, filepath.Join(dir, "mine"), "mine")
	check(t, stopped.Stop())
	var exists *store.ExistsError
	if _, err := n.Get(absent(t, "nothing"), filepath.Join(dir, "mine"), peer.GetOptions{}); !errors.As(err, &exists) {
		t.Errorf("get to a file: %v", err)
	}
	if st := stopped.Status(); st.Phase != peer.Stopped || st.Root != filepath.Join(dir, "out") {
		t.Errorf("status %+v", st)
	}
}

// TestRemoveKeepsForeignFile removes a transfer that has not created its destination, where the
// user has created a file.
func TestRemoveKeepsForeignFile(t *testing.T) {
	t.Parallel()
	n, out := peertest.Start(t, "A"), filepath.Join(t.TempDir(), "out")
	get := peertest.Get(t, n, absent(t, "nothing"), out)
	if err := os.WriteFile(out, []byte("the user's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Remove(get, true); err != nil {
		t.Fatal(err)
	}
	peertest.EqualFile(t, out, []byte("the user's"))
}

// TestRemoveInterrupted ends a node while it deletes files. The next node does not fetch the deleted files,
// and can delete the rest.
func TestRemoveInterrupted(t *testing.T) {
	t.Parallel()
	source, folder := peertest.Start(t, "A"), filepath.Join(t.TempDir(), "folder")
	for _, name := range []string{"first", "second"} {
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	_, link := peertest.Seed(t, source, folder, peer.SeedOptions{})
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	n := peertest.Start(t, "B", peertest.Data(data))
	get := peertest.Get(t, n, link, out)
	peertest.Wait(t, get)
	errCut := errors.New("cut short")
	n.SetFiles(rootsAfter{vfs.OS{}, func() error { return errors.Join(errCut, os.Remove(filepath.Join(out, "first"))) }})
	if _, err := n.Remove(get, true); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = peertest.Start(t, "B", peertest.Data(data))
	get, err := n.Transfer(link.String())
	if err != nil {
		t.Fatal(err)
	}
	if phase := get.Status().Phase; phase != peer.Stopped {
		t.Errorf("the transfer is %s", phase)
	}
	if _, err := n.Remove(get, true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

func TestLinkWithoutContent(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	if _, err := n.Get(new(proto.Link), filepath.Join(t.TempDir(), "out"), peer.GetOptions{}); err == nil {
		t.Error("nothing was got")
	}
	if _, err := n.Describe(t.Context(), new(proto.Link), func(string) {}); err == nil {
		t.Error("nothing was described")
	}
}

// TestCloseDuringCalls closes a node while goroutines get, stop, remove, seed and wait for the
// same few links. Close waits for them: nothing touches the data directory afterwards.
func TestCloseDuringCalls(t *testing.T) {
	t.Parallel()
	source := peertest.Start(t, "A")
	_, seeded, _ := peertest.SeedRandom(t, source, 1<<20, peer.SeedOptions{})
	path, _ := peertest.RandomFile(t, 1<<20)
	data, dir := t.TempDir(), t.TempDir()
	links := []*proto.Link{seeded, absent(t, "first"), absent(t, "second")}
	outs := []string{filepath.Join(dir, "0"), filepath.Join(dir, "1"), filepath.Join(dir, "2")}
	n := peertest.Start(t, "B", peertest.Data(data))
	other := withPeer(t, links[1])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := rand.IntN(len(links))
				tr, err := n.Transfer(links[i].Manifest.String())
				switch k := rand.IntN(9); {
				case err != nil || k == 0:
					_, _ = n.Get(links[i], outs[i], peer.GetOptions{Reuse: true})
				case k == 1:
					_, _ = n.Get(other, outs[1], peer.GetOptions{})
				case k == 2:
					_ = tr.Stop()
				case k == 3:
					_, _ = n.Remove(tr, rand.IntN(2) == 0)
				case k == 4:
					short, stop := context.WithTimeout(ctx, 5*time.Millisecond)
					_, _ = n.Seed(short, path, peer.SeedOptions{})
					stop()
				case k == 5:
					short, stop := context.WithTimeout(ctx, 5*time.Millisecond)
					if tr.Wait(short) == nil && tr.ID != seeded.Manifest {
						t.Error("a link without peers is complete")
					}
					stop()
				case k == 6:
					short, stop := context.WithTimeout(ctx, 5*time.Millisecond)
					_, _ = n.Describe(short, links[i], func(string) {})
					stop()
				default:
					_ = tr.Status()
					_ = n.Transfers()
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(data, data+".moved"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	cancel()
	wg.Wait()
	if _, err := n.Get(links[2], outs[2], peer.GetOptions{}); err == nil {
		t.Error("a closed node starts a transfer")
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a closed node wrote to its data directory: %v", err)
	}
	if err := os.Rename(data+".moved", data); err != nil {
		t.Fatal(err)
	}
	if err := peertest.Start(t, "B", peertest.Data(data)).Close(); err != nil {
		t.Error(err)
	}
}
