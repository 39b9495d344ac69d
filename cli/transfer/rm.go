package transfer

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
)

const rmHelp = `Stops a transfer and forgets it: the node no longer serves the content. Files stay,
unless --content deletes what was fetched, complete or not: the files, symbolic links
and directories of the content that mob has created. It keeps files that --reuse took
over or that were changed since, other files, and directories that are not empty, and
lists them. Seeded content is never deleted.`

const rmExample = `  mob rm big.tar
  mob rm bafyreia2jh7ppwlz7vi66uz7qhenc5hgrsbuustnlgiex74n7rdzhve2ry --content`

func newRm(a *command.App) *cobra.Command {
	var f rmFlags
	return a.Command(command.Spec{
		Use: "rm ID|LINK|PATH", Short: "Stop a transfer and forget it", Long: rmHelp, Example: rmExample,
		Args: command.Args(1, "ID|LINK|PATH"), Flags: f.add, JSON: true, Run: f.run,
	})
}

// rmFlags are the flags of rm.
type rmFlags struct{ content bool }

func (f *rmFlags) add(fl *pflag.FlagSet) {
	fl.BoolVar(&f.content, "content", false, "delete the fetched files too")
}

func (f *rmFlags) run(ctx context.Context, a *command.App, args []string) (err error) {
	c, err := a.ParseContent(ctx, args[0])
	if err != nil {
		return err
	}
	// Other nodes need not reach a node that the command runs.
	s, err := daemon.DialOrRun(ctx, a, daemon.LocalFlags())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	slow := time.AfterFunc(10*time.Second, func() { a.Note("waiting for the disk; Ctrl-C ends the wait") })
	r, err := s.Remove(ctx, c.Name, f.content)
	slow.Stop()
	if err != nil {
		return s.NoTransfer(c.Name, err)
	}
	text := "removed " + r.ID
	switch info, err := os.Lstat(r.Root); {
	case err == nil && len(r.Left) > 0 && info.IsDir() && r.Left[0].Path != r.Root: // else another directory took its place
		text += "; deleted what else was fetched to " + r.Root
	case err == nil:
		text += "; kept " + r.Root
	case f.content && len(r.Left) == 0:
		text += "; deleted " + r.Root
	}
	return a.Print(r, func(w term.TextWriter) {
		for _, l := range r.Left {
			a.Note("left %s: %s", l.Path, l.Why)
		}
		w.Line("%s", text)
	})
}
