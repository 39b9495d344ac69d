package peer_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

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
		h := newHang()
		b, get := begin(t, failingDisk{finish: syscall.EIO, hang: h})
		close(h.release) // after Wait, which returns the failure from then on
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

// damagingPublish is a store that calls damage after each Publish.
type damagingPublish struct {
	store.Store
	damage func()
}

func (s damagingPublish) Publish() error {
	err := s.Store.Publish()
	s.damage()
	return err
}

// TestDamagedBeforeComplete finds a damaged piece after the files were published, and before the transfer counts as complete.
// It does not until the piece has been fetched again.
func TestDamagedBeforeComplete(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	b := peertest.Start(t, "B")
	gate := peertest.NewGate(0)
	gate.Open()
	_, link, content := peertest.SeedRandom(t, peertest.Start(t, "A", peertest.WithGate(gate)), size, peer.SeedOptions{PieceLength: 256 << 10})
	out := filepath.Join(t.TempDir(), "out")
	transfer := make(chan *peer.Transfer, 1)
	damage := sync.OnceFunc(func() {
		get := <-transfer
		gate.Close()
		if err := peertest.Flip(out, 100); err != nil {
			t.Error(err)
		}
		found, err := get.Verify(t.Context(), nil)
		if err != nil || found.Damaged.Count != 1 {
			t.Errorf("verify: %+v, %v", found, err)
		}
		time.AfterFunc(100*time.Millisecond, gate.Open) // until then it cannot be fetched again
	})
	b.SetStore(func(st store.Store) store.Store { return damagingPublish{st, damage} })
	get := peertest.Get(t, b, link, out)
	transfer <- get
	peertest.Wait(t, get)
	peertest.EqualFile(t, out, content)
	if err := get.Flush(t.Context()); err != nil {
		t.Errorf("flush: %v", err)
	}
}

// finishingStore is a store whose calls of Finish go through a function.
type finishingStore struct {
	store.Store
	finish func(finish func() error) error
}

func (s finishingStore) Finish() error { return s.finish(s.Store.Finish) }

// TestDamagedWhileFlushing finds a damaged piece while the transfer is flushed. The piece is fetched again before that flush
// ends: the transfer counts as flushed only after a second flush.
func TestDamagedWhileFlushing(t *testing.T) {
	t.Parallel()
	b := peertest.Start(t, "B")
	_, link, content := peertest.SeedRandom(t, peertest.Start(t, "A"), 1<<20, peer.SeedOptions{PieceLength: 256 << 10})
	out := filepath.Join(t.TempDir(), "out")
	transfer, calls := make(chan *peer.Transfer, 1), make(chan int, 2)
	calls <- 1
	second, end := make(chan struct{}), make(chan struct{})
	b.SetStore(func(st store.Store) store.Store {
		return finishingStore{st, func(finish func() error) error {
			if call := <-calls; call == 2 {
				close(second)
				<-end
				return finish()
			}
			calls <- 2
			err := finish()
			if flipped := peertest.Flip(out, 100); flipped != nil {
				t.Error(flipped)
			}
			if found, err := (<-transfer).Verify(t.Context(), nil); err != nil || found.Damaged.Count != 1 {
				t.Errorf("verify: %+v, %v", found, err)
			}
			<-second
			return err
		}}
	})
	get := peertest.Get(t, b, link, out)
	transfer <- get
	flushed := make(chan error, 1)
	go func() { flushed <- get.Flush(t.Context()) }()
	<-second
	select {
	case err := <-flushed:
		t.Errorf("flushed before the second flush: %v", err)
		close(end)
	case <-time.After(200 * time.Millisecond):
		close(end)
		if err := <-flushed; err != nil {
			t.Error(err)
		}
	}
	peertest.EqualFile(t, out, content)
}
