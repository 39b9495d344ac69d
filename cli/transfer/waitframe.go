package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// fleetEvery is the time between two queries to the trackers.
const fleetEvery = time.Second

// waitForNodes waits until f.wait other nodes have reported to this node that they are complete. The counts of the
// trackers are only shown, since anyone may announce anything.
func waitForNodes(ctx context.Context, a *command.App, s *daemon.Session, st peer.Status, f *seedFlags) error {
	p := a.Screen(f.quiet)
	p.StallAfter = term.StallInterval // trackers learn of progress every 30 s
	defer p.Clear()
	for {
		now, err := s.Visit(ctx, st.ID)
		if err != nil && errors.Is(context.Cause(ctx), errDeadline) { // the trackers may have taken long
			err = daemon.Cleanup(ctx, func(ctx context.Context) (err error) {
				now, err = s.Visit(ctx, st.ID)
				return err
			})
		}
		if err == nil {
			st = now
		}
		count := countComplete(st, f.wait)
		switch {
		case st.WholeNodes >= f.wait:
			p.Clear()
			a.Note("%s", count)
			return nil
		case errors.Is(context.Cause(ctx), errDeadline):
			return fmt.Errorf("%w: %s", context.Cause(ctx), count)
		case ctx.Err() != nil:
			return command.Interruptedf("interrupted before %s had the whole content", term.Plural(f.wait, "other node"))
		case err != nil:
			return err
		case st.Error != "":
			return errors.New(st.Error)
		}
		if fleet, noFleet := s.Fleet(ctx, st.Link); ctx.Err() == nil {
			p.Show(waitFrame(st, f.wait, fleet, noFleet))
		}
		select {
		case <-time.After(fleetEvery):
		case <-ctx.Done():
		}
	}
}

// countComplete formats the number of complete nodes.
func countComplete(st peer.Status, want int) string {
	return fmt.Sprintf("%d of %s complete", st.WholeNodes, term.Plural(want, "other node"))
}

// waitFrame shows how many of the wanted nodes are complete. noFleet is the error of the query to the trackers.
func waitFrame(st peer.Status, want int, fleet proto.Scrape, noFleet error) term.State {
	count := countComplete(st, want)
	f := term.State{
		Name: st.Name, Facts: count, Part: int64(st.WholeNodes), All: int64(want),
		Reason: count, Remedy: "`mob get` the link on the other nodes, and see `mob status` there",
	}
	var clusters []string
	missing := uint64(0)
	for _, c := range fleet.Clusters {
		clusters = append(clusters, fmt.Sprintf("%s %d/%d", c.Name, c.Whole, c.Nodes))
		f.Notes = append(f.Notes, command.ClusterLine(c, st.Pieces))
		missing += c.Missing
	}
	f.Text = fmt.Sprintf("%s (%s)", count, strings.Join(clusters, ", "))
	if noFleet != nil {
		f.Text = fmt.Sprintf("%s; trackers: %v", count, noFleet)
		f.Notes = []string{fmt.Sprintf("trackers: %v", noFleet)}
	}
	f.At = [...]uint64{uint64(st.WholeNodes), missing, uint64(st.Traffic.WANOut + st.Traffic.LANOut)}
	return f
}
