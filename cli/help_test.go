package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

func TestHelpHasExamples(t *testing.T) {
	env := &command.Env{Getenv: func(string) string { return "" }}
	for _, root := range []*cobra.Command{newMob(env), newMobd(env)} {
		for _, cmd := range append(root.Commands(), root) {
			if cmd.Long == "" || cmd.Example == "" {
				t.Errorf("%s: no help or no example", cmd.CommandPath())
			}
		}
	}
}
