package status

import (
	"context"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
)

// watch reports until it is interrupted: over the last report on a terminal, one
// report after the other elsewhere, one per line with --json.
func watch(ctx context.Context, a *command.App, ask func() (report, error)) error {
	screen := *a.Env
	screen.Err = a.Out // the report is the result of the command
	p := screen.Screen(false)
	for {
		r, err := ask()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		switch {
		case a.JSON:
			err = command.WriteJSONLine(a.Out, r)
		case p.Draw(r):
		default:
			w := term.NewTextWriter(a.Out)
			r.print(w)
			w.Line("")
			err = w.Flush()
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
