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
	link, err := proto.ParseLink(st.Link)
	if err != nil {
		return err
	}
	p := a.Screen(f.quiet)
	p.StallAfter = term.StallInterval // trackers learn of progress every 30 s
	defer p.Clear()
	for {
		now, err := s.Visit(ctx, st.ID)
		if err == nil {
			st = now
		}
		fleet, noFleet := s.Fleet(ctx, link)
		frame := waitFrame{st, f.wait, fleet, noFleet}
		switch {
		case ctx.Err() != nil:
			return command.Interruptedf("interrupted before %s had the whole content", term.Plural(f.wait, "other node"))
		case err != nil:
			return err
		case st.Error != "":
			return errors.New(st.Error)
		case st.WholeNodes >= f.wait:
			p.Clear()
			a.Note("%s", frame.count())
			return nil
		}
		p.Show(frame)
		select {
		case <-time.After(fleetEvery):
		case <-ctx.Done():
		}
	}
}

// waitFrame shows how many of the wanted nodes are complete.
type waitFrame struct {
	st    peer.Status
	want  int
	fleet proto.Scrape
	err   error // of the query
}

func (f waitFrame) count() string {
	return fmt.Sprintf("%d of %s complete", f.st.WholeNodes, term.Plural(f.want, "other node"))
}

func (f waitFrame) Picture(width int) []string {
	lines := []string{f.st.Name, "  " + term.BarBeside(" "+f.count(), int64(f.st.WholeNodes), int64(f.want), width)}
	if f.err != nil {
		return append(lines, "  trackers: "+f.err.Error())
	}
	for _, c := range f.fleet.Clusters {
		lines = append(lines, "  "+command.ClusterLine(c, f.st.Pieces))
	}
	return lines
}

func (f waitFrame) Line() string {
	if f.err != nil {
		return fmt.Sprintf("%s: %s; trackers: %v", f.st.Name, f.count(), f.err)
	}
	var clusters []string
	for _, c := range f.fleet.Clusters {
		clusters = append(clusters, fmt.Sprintf("%s %d/%d", c.Name, c.Whole, c.Nodes))
	}
	return fmt.Sprintf("%s: %s (%s)", f.st.Name, f.count(), strings.Join(clusters, ", "))
}

// Position implements [term.Progress].
func (f waitFrame) Position() any {
	missing := uint64(0)
	if f.err == nil {
		for _, c := range f.fleet.Clusters {
			missing += c.Missing
		}
	}
	return [...]uint64{uint64(f.st.WholeNodes), missing, uint64(f.st.Traffic.WANOut + f.st.Traffic.LANOut)}
}

// Waiting implements [term.Progress].
func (f waitFrame) Waiting() (what, remedy string) {
	return f.count(), "`mob get` the link on the other nodes, and see `mob status` there"
}
