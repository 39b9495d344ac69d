package sshd

import (
	"os/exec"
	"syscall"
)

// isolate starts a command in new mount and process namespaces: all processes there end with it.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
}
