package sshd

import (
	"os/exec"
	"syscall"
)

// isolate gives a command its own mounts, and makes it the first of its own processes: they
// end with it.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
}
