package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/command"
)

// watch reports until it is interrupted: over the last report on a terminal, one
// report after the other elsewhere, one per line with --json.
func watch(ctx context.Context, g *command.App, ask func() (report, error)) error {
	screen := *g.Env
	screen.Err = g.Out // the report is the result of the command
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
		case g.JSON:
			err = command.WriteJSONLine(g.Out, r)
		case p.Draw(r):
		default:
			_, err = fmt.Fprintf(g.Out, "%s\n\n", strings.Join(r.lines(), "\n"))
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
