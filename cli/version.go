package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
)

const versionHelp = `Prints the version of mob, the version of Go that built it, and the system.`

func newVersion(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    versionHelp,
		Example: "  mob version",
		Args:    command.Args(0),
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": command.Version(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}
			if a.JSON {
				return command.WriteJSON(a.Out, v)
			}
			_, err := fmt.Fprintf(a.Out, "mob %s (%s, %s)\n", v["version"], v["go"], v["system"])
			return err
		},
	}
	a.JSONFlag(cmd)
	return cmd
}
