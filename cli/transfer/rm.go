package transfer

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
)

const rmHelp = `Stops a transfer and forgets it: the node no longer serves the content. Files stay,
unless --content deletes what was fetched, complete or not: the files, symbolic links
and folders of the content that mob has written or taken over. It leaves what was
changed since, what is not of the content, and folders that are not empty then, and
says so. Seeded content is never deleted.`

const rmExample = `  mob rm big.tar
  mob rm bafyreia2jh7ppwlz7vi66uz7qhenc5hgrsbuustnlgiex74n7rdzhve2ry --content`

func newRm(a *command.App) *cobra.Command {
	var content bool
	cmd := &cobra.Command{
		Use:     "rm ID|LINK|PATH",
		Short:   "Stop a transfer and forget it",
		Long:    rmHelp,
		Example: rmExample,
		Args:    command.Args(1, "ID|LINK|PATH"),
		RunE:    func(cmd *cobra.Command, given []string) error { return runRm(a, cmd, given[0], content) },
	}
	cmd.Flags().BoolVar(&content, "content", false, "delete what was fetched, too")
	a.JSONFlag(cmd)
	return cmd
}

func runRm(a *command.App, cmd *cobra.Command, text string, deleteContent bool) (err error) {
	c, err := a.ParseContent(text)
	if err != nil {
		return err
	}
	// A node that the command runs need not be reached by others.
	s, err := daemon.DialOrRun(a, cmd, &daemon.Flags{Cluster: "default", Listen: []string{daemon.Loopback().String()}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r, err := s.Remove(cmd.Context(), c.Name, deleteContent)
	if err != nil {
		return err
	}
	if a.JSON {
		return command.WriteJSON(a.Out, r)
	}
	for _, l := range r.Left {
		a.Note("left %s: %s", l.Path, l.Why)
	}
	text = "removed " + r.ID
	switch _, err := os.Lstat(r.Root); {
	case err == nil && len(r.Left) > 0:
		text += "; deleted what was fetched to " + r.Root
	case err == nil:
		text += "; kept " + r.Root
	case deleteContent:
		text += "; deleted " + r.Root
	}
	_, err = fmt.Fprintln(a.Out, term.Printable(text))
	return err
}
