package casting

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cast"
	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/cli/command"
)

// Commands returns the commands of the package.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{newCast(a, cast.Run), newGather(a, cast.Run), newSbcast(a, cast.Run), newAgent(a)}
}

const agentHelp = `What "mob cast" runs on each host, where there is no mob-agent beside mob. It reads
messages from standard input.`

// newAgent is the command that runs on each host of a cast if there is no mob-agent to copy. It is not
// for people.
func newAgent(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "agent", Short: "Take part in a cast, on a host", Long: agentHelp, Example: "  mob agent", Hidden: true,
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			if status := agent.Run(ctx, a.In, a.Out, a.Err); status != command.ExitDone {
				return errors.New("") // it has said why
			}
			return nil
		},
	})
}
