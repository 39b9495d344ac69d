package command

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// RunShell runs a command line with sh, and with vars in its environment. When ctx ends, an interrupt is sent to the shell and to what
// it runs. What is left when the shell has exited, after 10 s at the latest, is killed. In the foreground of a terminal, where another
// process group could not read from it, the shell is in the group of this process, and the two signals are sent to the shell alone.
func (env *Env) RunShell(ctx context.Context, line string, vars ...string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Env = append(os.Environ(), vars...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.In, env.Out, env.Err
	group := env.In == nil || !inForeground()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: group}
	cmd.Cancel = func() error {
		if group {
			return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		}
		return cmd.Process.Signal(syscall.SIGINT)
	}
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if group && err != nil && ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}

// inForeground reports whether this process is in the foreground of a terminal.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
