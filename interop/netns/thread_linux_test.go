package netns

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestThreadIsNeverTheMainOne(t *testing.T) {
	var threads []*thread
	for range 20 {
		threads = append(threads, startThread())
	}
	for _, th := range threads {
		var first, second int
		_ = th.do(func() error { first = unix.Gettid(); return nil })
		_ = th.do(func() error { second = unix.Gettid(); return nil })
		if first == unix.Getpid() || first != second {
			t.Errorf("calls ran on threads %d and %d of process %d", first, second, unix.Getpid())
		}
		th.stop()
		if err := unix.Tgkill(unix.Getpid(), first, 0); err == nil {
			defer awaitGone(t, first)
		}
		if err := th.do(func() error { return nil }); !errors.Is(err, ErrClosed) {
			t.Errorf("call after stop: %v", err)
		}
	}
}

func TestThreadEndedByACall(t *testing.T) {
	th := startThread()
	err := th.do(func() error { runtime.Goexit(); return nil })
	if !errors.Is(err, ErrClosed) {
		t.Errorf("the call that ended it: %v", err)
	}
	if err := th.do(func() error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("the call after: %v", err)
	}
}
