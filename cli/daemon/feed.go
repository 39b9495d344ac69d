package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/mobgrid/mob/feed"
)

// runVersion runs the command of a feed with a complete version. When ctx ends, an interrupt is sent to the shell and to what it runs.
// What is left when the shell has exited, after 10 s at the latest, is killed.
func runVersion(ctx context.Context, command string, v feed.Version) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = append(os.Environ(), fmt.Sprint("MOB_VERSION=", v.Seq), "MOB_PATH="+v.Path)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if err != nil && ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}
