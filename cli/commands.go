package cli

import (
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

// Commands returns the commands mob and mobd as a user finds them who has set nothing, for
// manual pages and completions. They are not to be run.
func Commands() []*cobra.Command {
	env := &command.Env{Getenv: func(string) string { return "" }}
	return []*cobra.Command{newMob(env), newMobd(env)}
}
