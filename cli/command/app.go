package command

import (
	"io"

	"github.com/spf13/cobra"
)

// App holds the flags that several commands share.
type App struct {
	*Env
	Data     string // data directory of the node
	LogLevel string // of a node that the command runs
	JSON     bool   // print JSON
}

// JSONFlag adds the flag --json to a command.
func (a *App) JSONFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.JSON, "json", false, "print JSON")
}

// Result returns the writer of the result of a command, which is text or JSON.
func (a *App) Result() io.Writer {
	if a.JSON {
		return JSONOutput{a.Out}
	}
	return a.Out
}
