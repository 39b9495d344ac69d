package cli

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
)

const versionHelp = `Prints the version of mob, the version of Go that built it, and the system.`

func newVersion(a *command.App) *cobra.Command {
	return a.Command(command.Spec{
		Use: "version", Short: "Print the version", Long: versionHelp, Example: "  mob version",
		JSON: true,
		Run: func(_ context.Context, a *command.App, _ []string) error {
			v := map[string]string{"version": command.Version(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}
			return a.Print(v, func(w term.TextWriter) { w.Line("mob %s (%s, %s)", v["version"], v["go"], v["system"]) })
		},
	})
}
