package agent

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// newGroup runs a command in its own process group, and kills it when this process exits.
func newGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// timerSlack is the kernel's default.
const timerSlack = 50 * time.Microsecond

// resetTimerSlack restores the timer slack for commands that this thread starts: agents have a larger one
// (cast/launch/launch.sh).
func resetTimerSlack() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack.Nanoseconds()), 0, 0, 0)
}

// pipeSize is the capacity of the pipe to a command, in bytes. With the usual 64 KiB a busy machine switches between the processes
// for every few pages.
const pipeSize = 1 << 20

// widen raises the capacity of a pipe, if the system allows it.
func widen(pipe io.Reader) {
	if f, ok := pipe.(*os.File); ok {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, pipeSize)
	}
}
