package main

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerSlack is how late the kernel may fire the daemon's timers. Its default is
// 50 us.
const timerSlack = 2 * time.Millisecond

// allowLateTimers sets the timer slack of all threads of the process. Go's
// scheduler sleeps for 3 to 20 us at a time while it looks for work, which takes a
// sixth of a daemon's CPU while it waits for slow links
// (docs/design/timer-slack.md).
//
// A thread inherits its slack from the thread that started it, and the scheduler's
// threads start before any code of the program. So the program sets the slack and
// executes itself again: the slack survives that. When the slack is large enough
// already, or the kernel rejects it, allowLateTimers returns and does nothing: the
// daemon then takes more CPU.
func allowLateTimers() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if slack() >= timerSlack {
		return
	}
	path, err := os.Executable()
	if err != nil || unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack.Nanoseconds()), 0, 0, 0) != nil {
		return
	}
	// A kernel that ignores it, as for real-time threads, would make this a loop.
	if slack() == timerSlack {
		_ = syscall.Exec(path, os.Args, os.Environ())
	}
}

// slack returns the timer slack of the calling thread, 0 when the kernel does not
// say.
func slack() time.Duration {
	ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}
