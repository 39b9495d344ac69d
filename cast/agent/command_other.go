//go:build unix && !linux

package agent

import (
	"io"
	"syscall"
)

// newGroup runs a command in its own process group.
func newGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// resetTimerSlack does nothing: only Linux has timer slack.
func resetTimerSlack() {}

// widen does nothing.
func widen(io.Reader) {}
