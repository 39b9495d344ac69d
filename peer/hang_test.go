package peer_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/vfs"
)

// hang is a file system call that blocks until it is released.
type hang struct {
	entered, release chan struct{}
	once             sync.Once
}

func newHang() *hang { return &hang{entered: make(chan struct{}), release: make(chan struct{})} }

func (h *hang) wait() {
	if h == nil {
		return
	}
	h.once.Do(func() { close(h.entered) })
	<-h.release
}

// hangingStore is a store whose flush or Close blocks.
type hangingStore struct {
	store.Store
	flush, close *hang // nil for a call that does not block
}

func (s hangingStore) Finish() error {
	s.flush.wait()
	return s.Store.Finish()
}

func (s hangingStore) Close() error {
	s.close.wait()
	return s.Store.Close()
}

// rootsAfter is a file system that opens a directory after a call, which may fail.
type rootsAfter struct {
	vfs.FS
	call func() error
}

func (f rootsAfter) OpenRoot(path string) (vfs.Root, error) {
	if err := f.call(); err != nil {
		return nil, err
	}
	return f.FS.OpenRoot(path)
}

// TestHungDisk blocks a call for one transfer in the file system. The node still accepts
// a peer of another transfer, serves it, and returns the status of all.
func TestHungDisk(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T, n *peer.Node, h *hang){
		"lstat of a destination": func(t *testing.T, n *peer.Node, h *hang) {
			n.SetLstat(func(path string) (os.FileInfo, error) {
				h.wait()
				return os.Lstat(path)
			})
			_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "C"), 1<<20, peer.SeedOptions{})
			out := filepath.Join(t.TempDir(), "out")
			inBackground(t, func() { _, _ = n.Get(link, out, peer.GetOptions{}) })
		},
		"remove": func(t *testing.T, n *peer.Node, h *hang) {
			_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "C"), 1<<20, peer.SeedOptions{})
			get := peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out"))
			peertest.Wait(t, get)
			n.SetFiles(rootsAfter{vfs.OS{}, func() error { h.wait(); return nil }})
			inBackground(t, func() { _, _ = n.Remove(get, true) })
		},
		"flush": func(t *testing.T, n *peer.Node, h *hang) {
			n.SetStore(func(st store.Store) store.Store { return hangingStore{Store: st, flush: h} })
			_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "C"), 1<<20, peer.SeedOptions{})
			get := peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out"))
			inBackground(t, func() { <-h.entered; _ = get.Stop() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := peertest.Start(t, "A")
			path, content := peertest.RandomFile(t, 1<<20+77) // another than the one that hangs
			seed, err := n.Seed(t.Context(), path, peer.SeedOptions{})
			if err != nil {
				t.Fatal(err)
			}
			h := newHang()
			defer close(h.release)
			begin(t, n, h)
			<-h.entered
			out := filepath.Join(t.TempDir(), "copy")
			peertest.Wait(t, peertest.Get(t, peertest.Start(t, "B"), seed.Link(), out))
			peertest.EqualFile(t, out, content)
			for _, tr := range n.Transfers() {
				if st := tr.Status(); st.ID == "" {
					t.Error("a transfer without a status")
				}
			}
			if found, err := n.Transfer(seed.ID.String()); err != nil || found != seed {
				t.Errorf("the seed is not found: %v", err)
			}
		})
	}
}

// TestKeepHungDisk ends a transfer on a disk that hangs, which keeps no other one from its end.
func TestKeepHungDisk(t *testing.T) {
	t.Parallel()
	n, h := peertest.Start(t, "A"), newHang()
	defer close(h.release)
	n.SetStore(func(st store.Store) store.Store { return hangingStore{Store: st, close: h} })
	hung, _, _ := peertest.SeedRandom(t, n, 1<<20, peer.SeedOptions{})
	n.SetStore(func(st store.Store) store.Store { return st })
	n.SetKeep(peer.Keep{For: time.Hour})
	inBackground(t, func() { peer.EndAll(n, time.Now().Add(2*time.Hour)) })
	<-h.entered
	peertest.SeedRandom(t, n, 1<<20+1, peer.SeedOptions{})
	peer.EndAll(n, time.Now().Add(2*time.Hour))
	if all := n.Transfers(); len(all) != 1 || all[0] != hung {
		t.Errorf("%d transfers are left", len(all))
	}
}

// inBackground runs f, and waits for it at the end of the test.
func inBackground(t *testing.T, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	t.Cleanup(func() { <-done })
}
