package transfer

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

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
// command, and runCommand waits until it has exited. Its error has the command's exit status, as a shell reports it.
func runCommand(ctx context.Context, a *command.App, line string, st peer.Status) error {
	if line == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Env = append(os.Environ(), "MOB_PATH="+st.Root, "MOB_ID="+st.ID)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.In, a.Out, a.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var failed *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &failed) {
		return err
	}
	status, _ := launch.ExitStatus(failed.ProcessState)
	return command.Exitf(status, "the command of --exec failed: %v", failed)
}
