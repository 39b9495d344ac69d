//go:build unix && !linux

package agent

import (
	"os"
	"syscall"
)

// groupOfItsOwn has a command run in a process group of its own.
func groupOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// punctual does nothing: only Linux has timer slack.
func punctual() {}

// widen does nothing: the system sizes pipes by itself.
func widen(*os.File) {}
