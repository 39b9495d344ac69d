package netns

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// thread is the one OS thread of a grid that enters namespaces. Everything that has to happen inside one is sent to it, so no
// other thread of the program is ever anywhere but where it began. It never goes back: when it ends, the kernel's thread ends
// with it, and so do the processes that were started from it (they ask to be killed with their parent, which to Linux is the
// thread that forked them).
type thread struct {
	calls chan func()
	quit  chan struct{} // closed by stop
	ended chan struct{} // closed when no call will be run any more
}

// startThread returns when the thread is there.
func startThread() *thread {
	t := &thread{calls: make(chan func()), quit: make(chan struct{}), ended: make(chan struct{})}
	ready := make(chan struct{})
	go t.run(ready)
	<-ready
	return t
}

func (t *thread) run(ready chan<- struct{}) {
	runtime.LockOSThread() // and never unlocked: that is what makes the thread end with the goroutine
	if unix.Gettid() == unix.Getpid() {
		// The main thread does not end before the program, and its namespace shows as that of the program. While this
		// goroutine sits on it, another one gets another thread.
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

// do runs fn on the thread and returns its error, or ErrClosed after stop. Calls from several goroutines take turns; fn must
// not call do.
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

// stop ends the thread and returns when it takes no more calls. Once only.
func (t *thread) stop() {
	close(t.quit)
	<-t.ended
}
