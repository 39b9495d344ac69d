package cli

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/format"
)

const lsHelp = `Lists the contents of this node, the oldest first: seeded, fetched, or on the way.`

func newLs(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the contents of this node", Long: lsHelp, Example: "  mob ls\n  mob ls --json",
		Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return g.ls(cmd) },
	}
	g.jsonFlag(cmd)
	return cmd
}

func (g *global) ls(cmd *cobra.Command) error {
	s, err := g.dial(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Client.Close()
	list, err := s.Transfers(cmd.Context())
	if err != nil {
		return err
	}
	if g.json {
		return format.JSON(g.Out, list)
	}
	w := tabwriter.NewWriter(g.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tDONE\tSIZE\tPATH\tID")
	for _, st := range list {
		phase := string(st.Phase)
		if st.Seed {
			phase = "seed, " + phase
		}
		done, total := "-", "-"
		if st.Length >= 0 {
			done, total = fmt.Sprintf("%d%%", format.Percent(st.Have, st.Length)), format.Size(st.Length)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", phase, done, total, cmp.Or(format.Printable(st.Root), "-"), st.ID)
	}
	return w.Flush()
}
