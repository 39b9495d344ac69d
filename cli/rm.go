package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/format"
)

const rmHelp = `Stops a transfer and forgets it: the node serves the content no more. What is on
disk stays, unless --content deletes what was fetched, whole or not. A content that
was seeded is never deleted.`

const rmExample = `  mob rm big.tar
  mob rm bafyreia2jh7ppwlz7vi66uz7qhenc5hgrsbuustnlgiex74n7rdzhve2ry --content`

func newRm(g *global) *cobra.Command {
	var content bool
	cmd := &cobra.Command{
		Use: "rm ID|LINK|PATH", Short: "Stop a transfer and forget it", Long: rmHelp, Example: rmExample,
		Args: args(1, "ID|LINK|PATH"),
		RunE: func(cmd *cobra.Command, given []string) error { return g.rm(cmd, given[0], content) },
	}
	cmd.Flags().BoolVar(&content, "content", false, "delete what was fetched, too")
	g.jsonFlag(cmd)
	return cmd
}

// rm needs a node, but nobody who reaches it.
func (g *global) rm(cmd *cobra.Command, text string, deleted bool) (err error) {
	c, err := parseContent(text)
	if err != nil {
		return err
	}
	s, err := g.dialOrRun(cmd, &nodeFlags{cluster: "default", listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	st, err := s.Remove(cmd.Context(), c.name, deleted)
	if err != nil {
		return err
	}
	if g.json {
		return format.JSON(g.Out, st)
	}
	said := "removed " + st.ID
	if _, err := os.Lstat(st.Root); err == nil {
		said += "; kept " + st.Root
	} else if deleted {
		said += "; deleted " + st.Root
	}
	_, err = fmt.Fprintln(g.Out, format.Printable(said))
	return err
}
