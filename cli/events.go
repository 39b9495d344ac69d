package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/peer"
)

const eventsHelp = `Prints what happens at the node of the daemon, as it happens: phases of transfers, peers
that joined and left, pieces that were found damaged, changes of limits. It begins with
the phase that each transfer is in, and goes on until Ctrl-C, or until the daemon ends.`

const eventsExample = `  mob events
  mob events big.tar --json
  mob events --follow=false`

func newEvents(g *global) *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:     "events [LINK|ID|PATH]",
		Short:   "Show what happens at the node",
		Long:    eventsHelp,
		Example: eventsExample,
		Args:    args(0, "LINK|ID|PATH"),
		RunE:    func(cmd *cobra.Command, given []string) error { return g.events(cmd, given, follow) },
	}
	cmd.Flags().BoolVar(&follow, "follow", true, "go on with what happens from now on")
	g.jsonFlag(cmd)
	return cmd
}

func (g *global) events(cmd *cobra.Command, given []string, follow bool) error {
	var c content
	if len(given) > 0 {
		var err error
		if c, err = g.parseContent(given[0]); err != nil {
			return err
		}
	}
	s, err := g.dial(cmd.Context())
	if err != nil {
		return err
	}
	defer s.Client.Close()
	return s.Events(cmd.Context(), c.name, follow, func(e control.NodeEvent) error {
		if g.json {
			return writeJSONLine(g.Out, e)
		}
		_, err := fmt.Fprintln(g.Out, printable(eventLine(&e)))
		return err
	})
}

// eventLine is an event in one line.
func eventLine(e *control.NodeEvent) string {
	parts := []string{e.Time.Local().Format(time.DateTime)}
	switch e.Kind {
	case peer.EventPhase:
		parts = append(parts, string(e.Phase), contentName(e), formatBytes(e.Bytes), "after "+formatDuration(e.Duration))
		if e.Error != "" {
			parts = append(parts, "("+e.Error+")")
		}
	case peer.EventDamage:
		parts = append(parts, "damage", contentName(e), fmt.Sprintf("%d pieces", e.Damaged), "in "+strings.Join(e.Files, ", "))
	default:
		parts = append(parts, string(e.Kind), contentName(e))
		if e.Peers > 0 || e.Joined > 0 || e.Left > 0 {
			parts = append(parts, fmt.Sprintf("%d: %d joined, %d left", e.Peers, e.Joined, e.Left))
		}
		parts = append(parts, e.Text)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// contentName is the name of what an event is about, the path or the id if it has none.
func contentName(e *control.NodeEvent) string {
	for _, name := range []string{e.Name, e.Path, e.Content} {
		if name != "" {
			return name
		}
	}
	return ""
}
