package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/control"
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

// Dial connects to the daemon of the data directory.
func (a *App) Dial(ctx context.Context) (*control.Client, error) {
	dir, err := DataDir(a.Data)
	if err != nil {
		return nil, err
	}
	return control.Dial(ctx, dir)
}
