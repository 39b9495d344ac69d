package cli

import (
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/compare"
)

// newBench is the command that compares mob with others. It has a package of its
// own, since it is as large as all other commands together.
func newBench(g *global) *cobra.Command {
	return compare.New(&compare.Shell{
		Out: g.Out, Note: g.note,
		Live:      func() compare.Live { return benchLive{g.newProgress()} },
		Wrong:     func(cmd *cobra.Command, err error) error { return wrong(cmd, "%w", err) },
		CheckSeed: checkSeed,
	})
}

// benchLive shows how far a comparison is.
type benchLive struct{ *progress }

// Show implements compare.Live.
func (l benchLive) Show(line string) { l.show(textFrame(line)) }

// Clear implements compare.Live.
func (l benchLive) Clear() { l.clear() }
