package main

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerSlack is how late the kernel's timers may be for the daemon, where it is 50 us unless told.
const timerSlack = 2 * time.Millisecond

// allowLateTimers lets the kernel's timers be late by timerSlack for all threads of the process. Go's scheduler sleeps for 3 to 20 us
// at a time while it looks for work, over and over: a sixth of what a daemon takes while it transfers over links that are slower than it
// (docs/design/2026-11-21-cpu.md). A thread has its slack from the thread that made it, and the scheduler's are made before any code of
// ours runs, so the program sets it and executes itself: what was set outlives that. It returns without doing so when the slack is as much
// already, and when the kernel refuses, which costs CPU and nothing else.
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
	// A kernel that does not keep it, as for real-time threads, would have us do this for ever.
	if slack() == timerSlack {
		_ = syscall.Exec(path, os.Args, os.Environ())
	}
}

// slack is that of the calling thread, 0 when the kernel does not say.
func slack() time.Duration {
	ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}
