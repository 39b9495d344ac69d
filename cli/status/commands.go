package status

import (
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

// Commands returns the commands of the package.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{newStatus(a), newLs(a), newLimit(a), newTopology(a), newInspect(a)}
}
