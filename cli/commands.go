package cli

import "github.com/spf13/cobra"

// Commands returns the commands mob and mobd as a user finds them who has set nothing, for
// manual pages and completions. They are not to be run.
func Commands() []*cobra.Command {
	env := &Env{Getenv: func(string) string { return "" }}
	return []*cobra.Command{newMob(env), newMobd(env)}
}
