package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/cli/term"
)

const topologyHelp = `Prints the measured links between the clusters of a swarm as a topology for "mob-bench
plan": rate, round trip, and the share of segments that were sent again. Nodes send
measurements to their trackers every 10 to 30 s, and trackers keep them until they
forget the swarm. Sites have links with each other, and a rack with its site.

A rate is the highest throughput of a link over three seconds. It is the capacity of the
link if packets queued before it then; otherwise a comment marks it as a lower bound. If
there was no traffic in one direction, it gets the rate of the other direction, with a
comment. Links without traffic are left out.

A host has its name if the swarm followed a plan, otherwise the peer id of its node, which
is also valid in a plan. Rates of interfaces are not known: add them as send and receive
where they are limits.`

const topologyExample = `  mob topology "$LINK" > topology.toml
  mob topology "$LINK" --json`

func newTopology(a *command.App) *cobra.Command {
	var network daemon.NetworkFlags
	return a.Command(command.Spec{
		Use: "topology LINK|ID|PATH", Short: "Print the measured links of a swarm", Long: topologyHelp, Example: topologyExample,
		Args: command.Args(1, "LINK|ID|PATH"), Flags: network.Add, JSON: true,
		Run: func(ctx context.Context, a *command.App, args []string) (err error) {
			c, err := a.ParseContent(ctx, args[0])
			if err != nil {
				return err
			}
			s, err := daemon.DialOrRunTemporary(ctx, a, &c, &network)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			t, err := s.Topology(ctx, c.Link)
			if err != nil {
				return err
			}
			return a.Print(t, func(w term.TextWriter) { writeTopology(w, &t) })
		},
	})
}

// topologyPair is the link between two clusters, both ways.
type topologyPair struct{ ab, ba control.TopologyLink }

// topologyPairs returns the links with traffic, by the names of their ends.
func topologyPairs(t *control.Topology) map[[2]string]topologyPair {
	pairs := map[[2]string]topologyPair{}
	for _, l := range t.Links {
		ends := [2]string{min(l.From, l.To), max(l.From, l.To)}
		p := pairs[ends]
		if l.From == ends[0] {
			p.ab = l
		} else {
			p.ba = l
		}
		pairs[ends] = p
	}
	maps.DeleteFunc(pairs, func(_ [2]string, p topologyPair) bool { return p.ab.Rate+p.ba.Rate == 0 })
	return pairs
}

// writeTopology writes a topology as TOML.
func writeTopology(w io.Writer, t *control.Topology) {
	pairs := topologyPairs(t)
	fmt.Fprint(w, "# What nodes measured. Rates are of content, without the headers of packets.\n")
	if len(pairs) == 0 {
		fmt.Fprint(w, "# No link has been measured yet: nodes measure while they send, and report every 10 to 30 s.\n")
	}
	for _, h := range t.Hosts {
		fmt.Fprintf(w, "\n[[host]]\nname    = %q\ncluster = %q\n", h.Name, h.Cluster)
	}
	switches := map[string]bool{}
	for _, h := range t.Hosts {
		switches[h.Cluster] = true
	}
	for ends := range pairs {
		switches[ends[0]], switches[ends[1]] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(switches)) {
		fmt.Fprintf(w, "\n[[switch]]\nname = %q\n", name)
	}
	for _, ends := range slices.SortedFunc(maps.Keys(pairs), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		p := pairs[ends]
		fmt.Fprintf(w, "\n[[link]]%s\na  = %q\nb  = %q\nab = %s\nba = %s\n",
			pathComment(p), ends[0], ends[1], topologyRate(p.ab, p.ba), topologyRate(p.ba, p.ab))
	}
}

// pathComment formats the round trip and the loss of a link.
func pathComment(p topologyPair) string {
	var facts []string
	rtt := p.ab.RTT
	if rtt == 0 || p.ba.RTT > 0 && p.ba.RTT < rtt {
		rtt = p.ba.RTT
	}
	if rtt > 0 {
		facts = append(facts, fmt.Sprintf("round trip %.1f ms", float64(rtt)/float64(time.Millisecond)))
	}
	if sent := p.ab.Segments + p.ba.Segments; sent > 0 {
		lost := float64(p.ab.Lost+p.ba.Lost) / float64(sent)
		facts = append(facts, fmt.Sprintf("%.2f %% of segments sent again", 100*lost))
	}
	if len(facts) == 0 {
		return ""
	}
	return " # " + strings.Join(facts, ", ")
}

// topologyRate formats a rate, with a comment if it is a lower bound or unknown. back is the other direction.
func topologyRate(l, back control.TopologyLink) string {
	text := func(n int64) string { return fmt.Sprintf(`"%.3fMB"`, float64(max(n, 1000))/1e6) } // 0 means no limit
	switch {
	case l.Rate == 0:
		return text(back.Rate) + " # no traffic this way: the rate of the other direction"
	case !l.Full:
		return text(l.Rate) + " # at least: the link was not full"
	}
	return text(l.Rate)
}
