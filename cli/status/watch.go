package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/command"
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
			_, err = fmt.Fprintf(a.Out, "%s\n\n", strings.Join(r.lines(), "\n"))
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
