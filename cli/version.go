package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

const versionHelp = `Prints the version of mob, the version of Go that built it, and the system.`

func newVersion(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    versionHelp,
		Example: "  mob version",
		Args:    args(0),
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": version(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}
			if g.json {
				return writeJSON(g.Out, v)
			}
			_, err := fmt.Fprintf(g.Out, "mob %s (%s, %s)\n", v["version"], v["go"], v["system"])
			return err
		},
	}
	g.jsonFlag(cmd)
	return cmd
}

// version returns the module's version: that of a release, or one with the commit
// it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
