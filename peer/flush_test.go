package peer_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
)

// failingDisk is a store whose flush, or whose end, reports that bytes are lost.
type failingDisk struct {
	store.Store
	finish, end error
	hang        *hang // before Finish, or nil
}

func (s failingDisk) Finish() error {
	if s.hang != nil {
		s.hang.wait()
	}
	return errors.Join(s.Store.Finish(), s.finish)
}

func (s failingDisk) Close() error { return errors.Join(s.Store.Close(), s.end) }

// TestFlushFails checks that a flush that fails after the last piece was verified fails the transfer, and is
// returned by Flush or Close.
func TestFlushFails(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, d failingDisk) (*peer.Node, *peer.Transfer) {
		b := peertest.Start(t, "B")
		b.SetStore(func(st store.Store) store.Store {
			d.Store = st
			return d
		})
		_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A"), 1<<20, peer.SeedOptions{})
		get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
		peertest.Wait(t, get)
		return b, get
	}
	t.Run("while the node runs", func(t *testing.T) {
		t.Parallel()
		b, get := begin(t, failingDisk{finish: syscall.EIO})
		if err := get.Flush(t.Context()); !errors.Is(err, syscall.EIO) {
			t.Errorf("flush: %v", err)
		}
		peertest.Eventually(t, "the failure", func() bool { return get.Status().Phase == peer.Failed })
		if st := get.Status(); !strings.Contains(st.Error, "flush to disk: input/output error") {
			t.Errorf("status %+v", st)
		}
		if err := b.Close(); err != nil {
			t.Errorf("close, later: %v", err)
		}
	})
	t.Run("while the node closes", func(t *testing.T) {
		t.Parallel()
		h := newHang()
		b, get := begin(t, failingDisk{finish: syscall.EIO, hang: h})
		<-h.entered
		short, cancel := context.WithCancel(t.Context())
		cancel()
		if err := get.Flush(short); !errors.Is(err, context.Canceled) {
			t.Errorf("flush while the disk hangs: %v", err)
		}
		closed := make(chan error)
		go func() { closed <- b.Close() }()
		peertest.Eventually(t, "the node to close", func() bool {
			_, err := b.Get(get.Link(), "x", peer.GetOptions{})
			return err != nil && strings.Contains(err.Error(), "shuts down")
		})
		close(h.release)
		if err := <-closed; !errors.Is(err, syscall.EIO) {
			t.Errorf("close: %v", err)
		}
	})
	t.Run("when the files are closed", func(t *testing.T) {
		t.Parallel()
		b, get := begin(t, failingDisk{end: syscall.EDQUOT})
		if err := get.Flush(t.Context()); err != nil {
			t.Errorf("flush: %v", err)
		}
		if err := b.Close(); !errors.Is(err, syscall.EDQUOT) {
			t.Errorf("close: %v", err)
		}
	})
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		b, get := begin(t, failingDisk{})
		if err := errors.Join(get.Flush(t.Context()), b.Close()); err != nil {
			t.Error(err)
		}
	})
}
