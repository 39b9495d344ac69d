package daemon

import (
	"context"
	"fmt"
	"os"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/feed"
)

// runVersion runs the command of a feed with a complete version, without standard input.
func runVersion(ctx context.Context, line string, v feed.Version) error {
	env := &command.Env{Out: os.Stderr, Err: os.Stderr}
	return env.RunShell(ctx, line, fmt.Sprint("MOB_VERSION=", v.Seq), "MOB_PATH="+v.Path)
}
