package transfer

import (
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

// Commands returns the commands of the package.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{newSeed(a), newGet(a), newRm(a), newVerify(a), newExport(a), newFeed(a)}
}
