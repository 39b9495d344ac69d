package cli

import (
	"fmt"
	"strings"

	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/cli/grid"
)

// gridFrame shows how far the nodes of a grid are.
type gridFrame struct{ grid.State }

// picture has a line per cluster and one per node, or the former alone when that
// is all that can be seen at once.
func (f gridFrame) picture(width int) []string {
	w := max(10, min(width-60, 40))
	lines := []string{fmt.Sprintf("%6.1fs", f.Took.Seconds())}
	nodes := 0
	for _, c := range f.Clusters {
		nodes += len(c.Nodes)
	}
	for _, c := range f.Clusters {
		lines = append(lines, fmt.Sprintf("%-8s %s %3d%%  wan %7s  lan %7s", c.Name, format.Bar(c.Have, c.Length, w),
			format.Percent(c.Have, c.Length), format.Size(c.FromWAN), format.Size(c.FromLAN)))
		for _, n := range c.Nodes {
			if nodes <= 16 {
				name := strings.TrimPrefix(n.Name, c.Name+"-")
				lines = append(lines, fmt.Sprintf("  %-6s %s %3d%%", name, format.Bar(n.Have, n.Length, w), format.Percent(n.Have, n.Length)))
			}
		}
	}
	return lines
}

func (f gridFrame) line() string {
	text := []string{fmt.Sprintf("%.1fs", f.Took.Seconds())}
	for _, c := range f.Clusters {
		text = append(text, fmt.Sprintf("%s %d%% (wan %s, lan %s)", c.Name, format.Percent(c.Have, c.Length), format.Size(c.FromWAN), format.Size(c.FromLAN)))
	}
	return strings.Join(text, "  ")
}
