package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// fleetEvery is the time between two questions to the trackers.
const fleetEvery = time.Second

// waitWhole waits until enough other nodes have all of a content. This node is
// one of those that the trackers count.
func (g *global) waitWhole(ctx context.Context, s *session, st peer.Status, f *seedFlags) error {
	link, err := proto.ParseLink(st.Link)
	if err != nil {
		return err
	}
	p := g.newProgress()
	defer p.clear()
	for {
		fleet, err := s.Fleet(ctx, link)
		switch {
		case ctx.Err() != nil:
			return &interruptedError{"interrupted before the other nodes had all of it"}
		case err == nil && fleet.Whole()-1 >= f.wait:
			p.clear()
			g.note("%s of the others have all of it", format.Count(fleet.Whole()-1, "node"))
			return nil
		}
		if !f.quiet {
			p.show(waitFrame{st, f.wait, fleet, err})
		}
		select {
		case <-time.After(fleetEvery):
		case <-ctx.Done():
		}
	}
}

// waitFrame shows how far the other nodes are.
type waitFrame struct {
	st    peer.Status
	want  int
	fleet *control.Fleet
	err   error
}

func (f waitFrame) picture(width int) []string {
	if f.err != nil {
		return []string{f.line()}
	}
	have := int64(max(0, f.fleet.Whole()-1))
	facts := fmt.Sprintf(" %d of %d nodes have all of it", have, f.want)
	lines := []string{f.st.Name, "  " + format.Bar(have, int64(f.want), max(10, min(width-len(facts)-6, 50))) + facts}
	for _, c := range f.fleet.Clusters {
		lines = append(lines, "  "+clusterLine(c, f.st.Pieces))
	}
	return lines
}

func (f waitFrame) line() string {
	if f.err != nil {
		return fmt.Sprintf("%s: waiting for an answer: %v", f.st.Name, f.err)
	}
	text := []string{}
	for _, c := range f.fleet.Clusters {
		text = append(text, fmt.Sprintf("%s %d/%d", c.Name, c.Whole, c.Nodes))
	}
	return fmt.Sprintf("%s: %d of %d nodes have all of it (%s)", f.st.Name, max(0, f.fleet.Whole()-1), f.want, strings.Join(text, ", "))
}

// clusterLine is a cluster of the trackers' count. pieces are those of the
// content, 0 when that is not known.
func clusterLine(c control.FleetCluster, pieces int) string {
	line := fmt.Sprintf("%-16s %d of %s whole", c.Name, c.Whole, format.Count(c.Nodes, "node"))
	if c.Missing == 0 {
		return line
	}
	if all := pieces * c.Nodes; all > 0 {
		return fmt.Sprintf("%s, %d%% there", line, format.Percent(int64(all)-int64(c.Missing), int64(all)))
	}
	return line + ", " + format.Count(int(c.Missing), "piece") + " missing"
}
