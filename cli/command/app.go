package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/term"
)

// App holds the flags that several commands share.
type App struct {
	*Env
	Data     string // data directory of the node
	LogLevel string // of a node that the command runs
	JSON     bool   // print JSON
}

// Spec describes a command.
type Spec struct {
	Use, Short, Long, Example string
	Args                      cobra.PositionalArgs // none by default
	Flags                     func(*pflag.FlagSet) // adds the flags
	JSON                      bool                 // has the flag --json
	Hidden                    bool
	Commands                  []*cobra.Command // a group of commands has no Run
	Run                       func(ctx context.Context, a *App, args []string) error
}

// Command returns the command of a Spec.
func (a *App) Command(s Spec) *cobra.Command {
	cmd := &cobra.Command{
		Use: s.Use, Short: s.Short, Long: s.Long, Example: s.Example, Args: s.Args, Hidden: s.Hidden,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkEmpty(cmd.Flags()); err != nil {
				return err
			}
			if s.Run != nil {
				return s.Run(cmd.Context(), a, args)
			}
			if len(args) > 0 {
				return Usagef("unknown command %q", args[0])
			}
			return cmd.Help()
		},
	}
	switch {
	case s.Run == nil:
		cmd.Args = cobra.ArbitraryArgs
	case s.Args == nil:
		cmd.Args = Args(0)
	}
	if s.Flags != nil {
		s.Flags(cmd.Flags())
	}
	if s.JSON {
		cmd.Flags().BoolVar(&a.JSON, "json", false, "print JSON")
	}
	cmd.AddCommand(s.Commands...)
	return cmd
}

// Print prints the result of a command: as JSON, or by text.
func (a *App) Print(v any, text func(term.TextWriter)) error {
	if a.JSON {
		return encodeJSON(a.Out, v, "  ")
	}
	w := term.NewTextWriter(a.Out)
	text(w)
	return w.Flush()
}

// Onto returns an App that prints results to w.
func (a *App) Onto(w io.Writer) *App {
	env, app := *a.Env, *a
	env.Out, app.Env = w, &env
	return &app
}

// Dial connects to the daemon of the data directory.
func (a *App) Dial(ctx context.Context) (*control.Client, error) {
	dir, err := DataDir(a.Data)
	if err != nil {
		return nil, err
	}
	return control.Dial(ctx, dir)
}
