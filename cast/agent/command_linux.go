package agent

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groupOfItsOwn has a command run in a process group of its own, and die with this process.
func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// timerSlack is the kernel's default.
const timerSlack = 50 * time.Microsecond

// punctual has the commands that this thread starts get timers as precise as elsewhere: those of agents
// may be late (cast/launch/launch.sh).
func punctual() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack.Nanoseconds()), 0, 0, 0) }

// pipeSize is how much a pipe to a command holds, in bytes. With the usual 64 KiB a busy machine would have
// to switch between the two for every few pages.
const pipeSize = 1 << 20

// widen has a pipe hold more, if the system allows it.
func widen(pipe *os.File) { _, _ = unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, pipeSize) }
