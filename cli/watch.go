package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// watch reports until it is interrupted: a picture on a terminal, one report
// after the other elsewhere, a line each with --json.
func (g *global) watch(ctx context.Context, look func() (report, error)) error {
	screen := *g.Env
	screen.Err = g.Out // what was asked for is the picture
	p := screen.newProgress()
	for {
		r, err := look()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		switch {
		case g.json:
			err = json.NewEncoder(g.Out).Encode(r)
		case p.term != nil:
			p.draw(r)
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
