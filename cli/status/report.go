package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// report is the output of status.
type report struct {
	Node      *control.Info `json:"node,omitempty"`
	Transfers []peer.Status `json:"transfers"`
	Fleet     *proto.Scrape `json:"fleet,omitempty"`
	// Feeds are the feeds of the node.
	Feeds []feed.Info `json:"feeds,omitempty"`
	// Limits are the limits of the node, nil if the daemon does not support them.
	Limits *control.Limits `json:"limits,omitempty"`
	// FleetError is the reason why there is no Fleet.
	FleetError string `json:"fleet_error,omitempty"`

	detailed bool // of a single content
}

func (r report) Picture(int) []string { return r.lines() }

func (r report) Line() string { return strings.Join(r.lines(), "; ") }

// lines returns the report for people.
func (r report) lines() []string {
	var out []string
	if r.Node != nil && !r.detailed {
		out = append(out, nodeLines(r.Node)...)
		out = append(out, statusLimitLines(r.Limits)...)
	}
	out = append(out, feedLines(r.Feeds)...)
	for _, st := range r.Transfers {
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, transferLines(st, r.detailed)...)
	}
	switch {
	case r.Node != nil && len(r.Transfers) == 0 && !r.detailed:
		out = append(out, "", "no transfers: `mob seed PATH` or `mob get LINK` starts one")
	case r.Node != nil && len(r.Transfers) == 0:
		out = append(out, "this node does not have the content")
	}
	return append(out, r.fleetLines()...)
}

// print writes the report for people.
func (r report) print(w term.TextWriter) {
	for _, l := range r.lines() {
		w.Line("%s", l)
	}
}

func nodeLines(n *control.Info) []string {
	out := []string{"node      " + n.ID, "cluster   " + n.Cluster}
	if net := n.Network; net != nil {
		out = append(out, "network   "+net.ID)
		until := "until " + term.Date(net.Until)
		if net.Renews {
			until = "renews its certificate"
		}
		out = append(out, fmt.Sprintf("          %s; %s; %s revoked",
			strings.Join(net.Roles, ", "), until, term.Plural(net.Revoked, "member")))
		if net.Problem != "" {
			out = append(out, "          "+net.Problem)
		}
	}
	for i, a := range n.Addrs {
		listens, _, _ := strings.Cut(a.String(), "/p2p/") // the id is in the first line
		out = append(out, term.Heading("listens", i)+listens)
	}
	for i, t := range n.Trackers {
		out = append(out, term.Heading("tracker", i)+t.String())
	}
	return out
}

// transferLines shows a transfer, with its peers if wanted.
func transferLines(st peer.Status, peers bool) []string {
	var in, out []string
	for _, n := range command.Networks(st) {
		in = append(in, traffic(n.Group, n.In, n.InRate))
		out = append(out, traffic(n.Group, n.Out, n.OutRate))
	}
	lines := []string{fmt.Sprintf("%s: %s", cmp.Or(st.Name, "(name unknown)"), describeState(st))}
	if st.LeftOut.Files > 0 {
		lines[0] += "; " + command.LeftOut(st.LeftOut)
	}
	add := func(shown bool, label, text string) {
		if shown {
			lines = append(lines, fmt.Sprintf("  %-7s %s", label, text))
		}
	}
	add(true, "path", cmp.Or(st.Root, "-"))
	add(true, "id", st.ID)
	add(true, "in logs", st.Short)
	add(true, "in", strings.Join(in, ", "))
	add(true, "out", strings.Join(out, ", "))
	add(st.Duplicate > 0, "wasted", term.Bytes(st.Duplicate)+" received more than once")
	add(st.Coded > 0, "coded", describeCoding(st.Coded, st.Strategy))
	add(st.Plan != nil, "plan", describePlan(st.Plan, st.LeftOut))
	for _, id := range st.Polluters {
		add(true, "banned", id+" for corrupt blocks")
	}
	add(st.Limits != nil, "limits", fmt.Sprint(st.Limits))
	add(st.Waiting != "", "now", command.Waiting(st))
	add(st.Isolation != nil, "alone", command.Isolation(st))
	add(!st.Ends.IsZero(), "kept", "until "+term.Date(st.Ends)+endsIn(st))
	add(st.Damaged > 0, "damaged", describeDamage(st))
	add(st.Error != "" && st.Phase == peer.Failed, "error", st.Error)
	add(true, "peers", countPeers(st))
	if peers {
		lines = append(lines, peerLines(st)...)
	}
	return lines
}

// describeDamage formats the number of damaged pieces, and their files.
func describeDamage(st peer.Status) string {
	text := term.Plural(int(st.Damaged), "piece")
	if len(st.DamagedFiles) > 0 {
		text += " of " + strings.Join(st.DamagedFiles, ", ")
	}
	if st.Seed {
		return text + " changed on disk and no longer served"
	}
	return text + " changed on disk: fetched again"
}

// cannotServe describes the pieces of a seed that cannot be served, as its files were changed. It is empty without any.
func cannotServe(st peer.Status) string {
	if st.Phase != peer.Whole || !st.Seed || st.Damaged == 0 {
		return ""
	}
	text := "changed on disk: cannot be served"
	if st.Have > 0 {
		text += fmt.Sprintf(" (%s of %s)", humanize.Comma(st.Damaged), term.Plural(st.Pieces, "piece"))
	}
	return text
}

// stateName names the state of a transfer.
func stateName(st peer.Status) string {
	changed := cannotServe(st)
	switch {
	case changed != "":
		return changed
	case st.Phase != peer.Whole:
		return string(st.Phase)
	case st.Away:
		return "away"
	case len(st.Different) > 0:
		return "changed"
	case st.Seed:
		return "seeding"
	}
	return "complete"
}

// describeState formats the progress of a transfer.
func describeState(st peer.Status) string {
	switch {
	case st.Length < 0, cannotServe(st) != "":
		return stateName(st)
	case st.Phase == peer.Whole && st.Have < st.Length:
		return fmt.Sprintf("damaged, serving %d%% of %s", term.Percent(st.Have, st.Length), term.Bytes(st.Length))
	case st.Phase == peer.Whole && (st.Away || len(st.Different) > 0):
		return describeDifferent(st)
	case st.Phase == peer.Whole && st.Seed:
		return "seeding " + term.Bytes(st.Length)
	case st.Phase == peer.Whole:
		return "complete, serving " + term.Bytes(st.Length)
	}
	text := fmt.Sprintf("%s, %d%% of %s", stateName(st), term.Percent(st.Have, st.Length), term.Bytes(st.Length))
	if left := term.Left(st.Length-st.Have, st.Rate.WANIn+st.Rate.LANIn); st.Phase == peer.Fetching && left != "" {
		text += ", " + left
	}
	return text
}

// describeDifferent names the entries of a complete transfer that differ on the disk.
func describeDifferent(st peer.Status) string {
	then := "`mob get` the link again"
	if st.Seed {
		then = "put it back as it was, or seed it again"
	}
	if st.Away {
		return "not at its path any more: " + then
	}
	d := st.Different
	var names []string
	for _, d := range d[:min(len(d), 3)] {
		names = append(names, fmt.Sprintf("%s is %s", d.Path, d.What))
	}
	if more := len(d) + st.MoreDifferent - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ") + ": " + then
}

// traffic formats the bytes over a network, and their rate.
func traffic(network string, bytes, perSecond int64) string {
	text := network + " " + term.Bytes(bytes)
	if perSecond > 0 {
		text += " (" + term.Rate(perSecond) + ")"
	}
	return text
}

func countPeers(st peer.Status) string {
	levels, others := len(st.Levels), "sites" // none unless the name of the node's cluster is a path
	if levels == 0 {
		levels, others = 1, "clusters"
	}
	var by [proto.MaxClusterParts + 1]int // by the number of parts that their names share with the node's
	for _, p := range st.Peers {
		switch {
		case len(st.Levels) > 0:
			by[proto.SharedParts(st.Levels[levels-1].Group, p.Cluster)]++
		case p.Local:
			by[1]++
		default:
			by[0]++
		}
	}
	text := fmt.Sprintf("%d in this cluster", by[levels])
	for i := levels - 1; i > 0; i-- {
		text += fmt.Sprintf(", %d elsewhere in %s", by[i], st.Levels[i-1].Group)
	}
	return text + fmt.Sprintf(", %d in other %s", by[0], others)
}

// peerLines lists the peers, starting with the own cluster.
func peerLines(st peer.Status) []string {
	peers := slices.Clone(st.Peers)
	slices.SortFunc(peers, func(a, b peer.PeerStatus) int {
		if a.Local != b.Local {
			return map[bool]int{true: -1, false: 1}[a.Local]
		}
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.ID, b.ID))
	})
	var out []string
	for _, p := range peers {
		have := fmt.Sprintf("%3d%%", term.Percent(int64(p.Have), int64(st.Pieces)))
		if st.Have == st.Length {
			have = "   -" // peers do not announce pieces to a complete node
		}
		line := fmt.Sprintf("    %-52s %-10s %s  %9s  %s", p.ID, p.Cluster, have, term.Rate(p.Rate), roundTrip(p.RTT))
		if p.Client != "" {
			line += "  " + p.Client
		}
		if p.Stalled {
			line += "  stalled"
		}
		out = append(out, line)
	}
	return out
}

func roundTrip(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// fleetLines shows the state of all nodes, as the trackers report it.
func (r report) fleetLines() []string {
	if r.FleetError != "" {
		return []string{"fleet: " + r.FleetError}
	}
	if r.Fleet == nil {
		return nil
	}
	if len(r.Fleet.Clusters) == 0 {
		return []string{"fleet: the trackers know no node with this content"}
	}
	pieces, whole, nodes := 0, 0, 0
	for _, st := range r.Transfers {
		pieces = st.Pieces
	}
	out := []string{""}
	for _, c := range r.Fleet.Clusters {
		whole, nodes = whole+int(c.Whole), nodes+int(c.Nodes)
		out = append(out, "  "+command.ClusterLine(c, pieces))
	}
	out[0] = fmt.Sprintf("fleet: %d of %s complete", whole, term.Plural(nodes, "node"))
	return out
}

// endsIn formats the end of a transfer, empty if it has none.
func endsIn(st peer.Status) string {
	if st.Ends.IsZero() {
		return ""
	}
	return " (ends in " + term.Duration(max(time.Until(st.Ends), 0)) + ")"
}

// describePlan formats the part of a node in a plan.
func describePlan(p *peer.PlanStatus, leftOut peer.LeftOut) string {
	switch {
	case p == nil:
		return ""
	case leftOut.Pieces > 0:
		return "not followed, as files are left out"
	case !p.Known:
		return "not found yet"
	case !p.In:
		return fmt.Sprintf("does not have the host %s, which fetches as in any swarm", p.Host)
	case p.Parents == 0:
		return fmt.Sprintf("host %s, the source", p.Host)
	}
	return fmt.Sprintf("host %s, follows %d of %s", p.Host, p.Followed, term.Plural(p.Parents, "parent"))
}

// describeCoding formats the coding of a transfer, with generations of k blocks.
func describeCoding(k int, strategy string) string {
	text := fmt.Sprintf("generations of %d blocks", k)
	if strategy != "" {
		text += ", by permutations (" + strategy + ")"
	}
	return text
}

// feedLines describes the feeds of a node: a line for each, and for each follower of a feed that it publishes.
func feedLines(all []feed.Info) (lines []string) {
	for _, f := range all {
		facts := []string{fmt.Sprintf("version %d", f.Complete)}
		switch {
		case f.Newest == 0:
			facts[0] = "no version yet"
		case f.Newest > f.Complete:
			facts = append(facts, fmt.Sprintf("fetching version %d", f.Newest))
		}
		if f.Saved > 0 {
			facts = append(facts, notFetched(f.Saved))
		}
		if f.Error != "" {
			facts = append(facts, f.Error)
		}
		what := "publishes"
		if f.Dir != "" {
			what = "follows in " + f.Dir
		}
		lines = append(lines, fmt.Sprintf("feed %s (%s): %s", f.Name, what, strings.Join(facts, ", ")))
		for _, r := range f.Followers {
			lag := "no report yet"
			if r.Seq > 0 {
				lag = fmt.Sprintf("version %d", r.Seq)
			}
			if behind := int64(f.Newest - r.Seq); r.Seq > 0 && behind > 0 {
				lag += fmt.Sprintf(", %s behind", term.Plural(int(behind), "version"))
			}
			if r.Saved > 0 {
				lag += ", " + notFetched(r.Saved)
			}
			lines = append(lines, fmt.Sprintf("  %s of %s: %s", r.Node, r.Cluster, lag))
		}
	}
	return lines
}

// notFetched formats the bytes of versions that a follower did not fetch.
func notFetched(n int64) string {
	return term.Bytes(n) + " not fetched: pushed, or in earlier versions"
}
