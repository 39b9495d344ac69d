package status

import (
	"cmp"
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
)

const lsHelp = `Lists the transfers of this node, oldest first.`

const lsExample = `  mob ls
  mob ls --json`

func newLs(a *command.App) *cobra.Command {
	return a.Command(command.Spec{Use: "ls", Short: "List the transfers of this node", Long: lsHelp, Example: lsExample, JSON: true, Run: runLs})
}

func runLs(ctx context.Context, a *command.App, _ []string) error {
	s, err := a.Dial(ctx)
	if err != nil {
		return err
	}
	list, err := s.Transfers(ctx)
	if err != nil {
		return err
	}
	return a.Print(list, func(out term.TextWriter) {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "STATE\tDONE\tSIZE\tPATH\tID")
		for _, st := range list {
			done, size := "-", "-"
			if st.Length >= 0 {
				done, size = fmt.Sprintf("%d%%", term.Percent(st.Have, st.Length)), term.Bytes(st.Length)
			}
			state := stateName(st)
			if st.Priority != "" {
				state += ", " + string(st.Priority) + " priority"
			}
			if st.LeftOut.Files > 0 {
				state += ", " + command.LeftOut(st.LeftOut)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", state+endsIn(st), done, size, cmp.Or(term.Printable(st.Root), "- ("+term.Printable(st.Name)+")"), st.ID)
		}
		_ = w.Flush() // into memory
	})
}
