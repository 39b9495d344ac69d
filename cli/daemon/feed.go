package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/mobgrid/mob/feed"
)

// runVersion runs the command of a feed with a complete version. An interrupt is sent to it when the node ends.
func runVersion(ctx context.Context, command string, v feed.Version) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = append(os.Environ(), fmt.Sprint("MOB_VERSION=", v.Seq), "MOB_PATH="+v.Path)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}
