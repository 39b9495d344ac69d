package transfer

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/peer"
)

// checkExec fails for an empty command of --exec.
func checkExec(fl *pflag.FlagSet, line string) error {
	if fl.Changed("exec") && strings.TrimSpace(line) == "" {
		return command.Usagef("--exec is empty: give a command")
	}
	return nil
}

// runCommand runs a command line on complete content, and does nothing for an empty line. An interrupt is sent to the
// command, see [command.Env.RunShell]. Its error has the command's exit status, as a shell reports it.
func runCommand(ctx context.Context, a *command.App, line string, st peer.Status) error {
	if line == "" {
		return nil
	}
	var failed *exec.ExitError
	if err := a.RunShell(ctx, line, "MOB_PATH="+st.Root, "MOB_ID="+st.ID); !errors.As(err, &failed) {
		return err
	}
	status, by := launch.ExitStatus(failed.ProcessState)
	if ctx.Err() != nil && by == syscall.SIGKILL {
		return command.Interruptedf("interrupted: the command of --exec did not end, and was killed")
	}
	return command.Exitf(status, "the command of --exec failed: %v", failed)
}
