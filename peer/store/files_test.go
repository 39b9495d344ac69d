package store

import (
	"os"
	"testing"
	"testing/synctest"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// fakeStore opens files for a cache. Its file system can be made to hang.
type fakeStore struct {
	t    *testing.T
	hang chan struct{} // opening and closing wait until it is closed; nil if they do not
}

func (s *fakeStore) openFile(int) (vfs.File, error) {
	if s.hang != nil {
		<-s.hang
	}
	return vfs.OS{}.OpenFile(os.DevNull, os.O_RDONLY, 0)
}

func (s *fakeStore) closeFile(f vfs.File) {
	if s.hang != nil {
		<-s.hang
	}
	if err := f.Close(); err != nil {
		s.t.Error(err)
	}
}

func (s *fakeStore) closeLater(f vfs.File) { go s.closeFile(f) }

func (s *fakeStore) acquire(c *Files, number int) *handle {
	s.t.Helper()
	h, err := c.acquire(s, number)
	if err != nil {
		s.t.Error(err)
	}
	return h
}

// testHangingStore makes one store hang by hang, on a cache with
// room for one file, and another store use its files in the meantime. Should that block, all
// goroutines do, and synctest reports it.
func testHangingStore(t *testing.T, hang func(c *Files, hanging *fakeStore)) {
	synctest.Test(t, func(t *testing.T) {
		c := NewFiles(1)
		hanging, other := &fakeStore{t: t}, &fakeStore{t: t}
		hang(c, hanging)
		synctest.Wait()
		for number := range 3 {
			h := other.acquire(c, number)
			c.release(h)
		}
		c.drop(other)
		close(hanging.hang)
		synctest.Wait()
		c.drop(hanging)
		if len(c.handles) > 0 {
			t.Errorf("%d files are left open", len(c.handles))
		}
	})
}

func TestHangingOpen(t *testing.T) {
	testHangingStore(t, func(c *Files, s *fakeStore) {
		s.hang = make(chan struct{})
		go func() { c.release(s.acquire(c, 0)) }()
	})
}

func TestHangingEviction(t *testing.T) {
	testHangingStore(t, func(c *Files, s *fakeStore) {
		c.release(s.acquire(c, 0))
		s.hang = make(chan struct{})
	})
}

func TestHangingOwnEviction(t *testing.T) {
	testHangingStore(t, func(c *Files, s *fakeStore) {
		c.release(s.acquire(c, 0))
		s.hang = make(chan struct{})
		go func() { c.release(s.acquire(c, 1)) }()
	})
}

func TestHangingDrop(t *testing.T) {
	testHangingStore(t, func(c *Files, s *fakeStore) {
		c.release(s.acquire(c, 0))
		s.hang = make(chan struct{})
		go c.drop(s)
	})
}

func TestHangingRead(t *testing.T) {
	testHangingStore(t, func(c *Files, s *fakeStore) {
		h := s.acquire(c, 0)
		s.hang = make(chan struct{})
		go func() {
			<-s.hang
			c.release(h)
		}()
	})
}

// TestBudget checks that a store waits for a second file while all of the budget is in
// use, and that what was opened beyond the budget is closed.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewFiles(1)
		a, b := &fakeStore{t: t}, &fakeStore{t: t}
		first := a.acquire(c, 0)
		var second *handle
		go func() { second = a.acquire(c, 1) }()
		beyond := b.acquire(c, 0)
		synctest.Wait()
		if second != nil || len(c.handles) != 2 {
			t.Errorf("%d files are open, want the first of each store", len(c.handles))
		}
		if again := a.acquire(c, 0); again != first {
			t.Error("an open file was opened again")
		}
		c.release(first)
		c.release(beyond)
		synctest.Wait()
		if second != nil || len(c.handles) != 1 {
			t.Errorf("%d files are open, want the one that is in use", len(c.handles))
		}
		c.release(first)
		synctest.Wait()
		if second == nil || len(c.handles) != 1 {
			t.Fatalf("%d files are open, want the second", len(c.handles))
		}
		c.release(second)
		c.drop(a)
		if len(c.handles) != 0 {
			t.Errorf("%d files are left open", len(c.handles))
		}
	})
}

// TestDropWhileOpening checks that a file which is dropped while it is being opened is
// closed after use, and opened again for the next user.
func TestDropWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewFiles(1)
		s := &fakeStore{t: t, hang: make(chan struct{})}
		var old *handle
		go func() { old = s.acquire(c, 0) }()
		synctest.Wait()
		c.drop(s)
		close(s.hang)
		synctest.Wait()
		fresh := s.acquire(c, 0)
		if fresh == old {
			t.Error("the dropped file is used again")
		}
		c.release(old)
		if _, err := old.f.Stat(); err == nil {
			t.Error("the dropped file was not closed")
		}
		c.release(fresh)
		c.drop(s)
	})
}
