package netns

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// ErrClosed is the error of every call on a grid, its nodes or its processes after [Grid.Close].
var ErrClosed = errors.New("netns: grid is closed")

// thread is the only OS thread of a grid that enters namespaces. Whatever must run inside one is
// sent to it, so that all other threads stay in the program's own namespace. It never leaves
// namespaces: when its goroutine ends, the thread ends too, and with it the processes that it
// started (they ask for a signal at the death of their parent, which on Linux is the thread that
// forked them).
type thread struct {
	calls chan func()
	quit  chan struct{} // closed by stop
	ended chan struct{} // closed when no call runs any more
}

// startThread returns when the thread is running.
func startThread() *thread {
	t := &thread{calls: make(chan func()), quit: make(chan struct{}), ended: make(chan struct{})}
	ready := make(chan struct{})
	go t.run(ready)
	<-ready
	return t
}

func (t *thread) run(ready chan<- struct{}) {
	runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
	if unix.Gettid() == unix.Getpid() {
		// The main thread would not end before the program, and its namespace is shown as the
		// program's. While this goroutine is locked to it, another one gets another thread.
		other := make(chan struct{})
		go t.run(other)
		<-other
		runtime.UnlockOSThread()
		close(ready)
		return
	}
	close(ready)
	defer close(t.ended)
	for {
		select {
		case call := <-t.calls:
			call()
		case <-t.quit:
			return
		}
	}
}

// do runs fn on the thread and returns its error, or ErrClosed after stop. Calls from several
// goroutines are serialized; fn must not call do.
func (t *thread) do(fn func() error) error {
	reply := make(chan error, 1)
	select {
	case t.calls <- func() { reply <- fn() }:
	case <-t.ended:
		return ErrClosed
	}
	select {
	case err := <-reply:
		return err
	case <-t.ended: // fn ended the goroutine
		return ErrClosed
	}
}

// stop ends the thread and returns when it accepts no more calls. It must be called only once.
func (t *thread) stop() {
	close(t.quit)
	<-t.ended
}
