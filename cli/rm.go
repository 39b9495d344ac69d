package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/term"
)

const rmHelp = `Stops a transfer and forgets it: the node no longer serves the content. Files stay,
unless --content deletes what was fetched, complete or not: the files, symbolic links
and folders of the content that mob has written or taken over. It leaves what was
changed since, what is not of the content, and folders that are not empty then, and
says so. Seeded content is never deleted.`

const rmExample = `  mob rm big.tar
  mob rm bafyreia2jh7ppwlz7vi66uz7qhenc5hgrsbuustnlgiex74n7rdzhve2ry --content`

func newRm(g *global) *cobra.Command {
	var content bool
	cmd := &cobra.Command{
		Use:     "rm ID|LINK|PATH",
		Short:   "Stop a transfer and forget it",
		Long:    rmHelp,
		Example: rmExample,
		Args:    args(1, "ID|LINK|PATH"),
		RunE:    func(cmd *cobra.Command, given []string) error { return g.rm(cmd, given[0], content) },
	}
	cmd.Flags().BoolVar(&content, "content", false, "delete what was fetched, too")
	g.jsonFlag(cmd)
	return cmd
}

func (g *global) rm(cmd *cobra.Command, text string, deleteContent bool) (err error) {
	c, err := g.parseContent(text)
	if err != nil {
		return err
	}
	// A node that the command runs need not be reached by others.
	s, err := g.dialOrRun(cmd, &nodeFlags{cluster: "default", listen: []string{loopback().String()}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r, err := s.Remove(cmd.Context(), c.name, deleteContent)
	if err != nil {
		return err
	}
	if g.json {
		return writeJSON(g.Out, r)
	}
	for _, l := range r.Left {
		g.note("left %s: %s", l.Path, l.Why)
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
	_, err = fmt.Fprintln(g.Out, term.Printable(text))
	return err
}
