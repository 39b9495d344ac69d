package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/peer"
)

// picture makes a report a frame of a progress.
func (r report) picture(int) []string { return r.lines() }

// line is the short form of a report.
func (r report) line() string { return strings.Join(r.lines(), "; ") }

// lines is the report for people.
func (r report) lines() []string {
	var out []string
	if r.Node != nil && !r.detailed {
		out = append(out, nodeLines(r.Node)...)
	}
	for _, st := range r.Transfers {
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, transferLines(st, r.detailed)...)
	}
	switch {
	case r.Node != nil && len(r.Transfers) == 0 && !r.detailed:
		out = append(out, "", "nothing is here: `mob seed PATH` serves a content, `mob get LINK` fetches one")
	case r.Node != nil && len(r.Transfers) == 0:
		out = append(out, "the content is not at this node")
	}
	out = append(out, r.fleetLines()...)
	for i := range out {
		out[i] = format.Printable(out[i])
	}
	return out
}

func nodeLines(n *control.Info) []string {
	out := []string{"node      " + n.ID, "cluster   " + n.Cluster}
	for i, a := range n.Addrs {
		a, _, _ = strings.Cut(a, "/p2p/") // the id stands above
		out = append(out, format.Label("listens", i)+a)
	}
	for i, t := range n.Trackers {
		out = append(out, format.Label("tracker", i)+t)
	}
	return out
}

// coded says in words how a content is coded.
func coded(k int, strategy string) string {
	text := fmt.Sprintf("generations of %d blocks", k)
	if strategy != "" {
		text += ", by permutations (" + strategy + ")"
	}
	return text
}

// transferLines shows a transfer. Rates that are 0 are left out.
func transferLines(st peer.Status, peers bool) []string {
	out := []string{
		fmt.Sprintf("%s: %s", cmp.Or(st.Name, "(name unknown)"), state(st)),
		"  path    " + st.Root,
		"  id      " + st.ID,
		"  in      " + flow(st.Traffic.WANIn, st.Rate.WANIn, "WAN") + ", " + flow(st.Traffic.LANIn, st.Rate.LANIn, "LAN"),
		"  out     " + flow(st.Traffic.WANOut, st.Rate.WANOut, "WAN") + ", " + flow(st.Traffic.LANOut, st.Rate.LANOut, "LAN"),
	}
	if st.Duplicate > 0 {
		out = append(out, "  twice   "+format.Size(st.Duplicate)+" came more than once")
	}
	if st.Coded > 0 {
		out = append(out, "  coded   "+coded(st.Coded, st.Strategy))
	}
	for _, id := range st.Liars {
		out = append(out, "  liar    "+id+" made false blocks, and is not believed any more")
	}
	if st.Waiting != "" {
		out = append(out, "  waits   "+getFrame{st}.waits())
	}
	if st.Damaged > 0 {
		out = append(out, "  damage  "+format.Count(int(st.Damaged), "piece")+" changed on disk, and not served any more")
	}
	if st.Error != "" && st.Phase == peer.Failed {
		out = append(out, "  error   "+st.Error)
	}
	out = append(out, "  peers   "+peerSummary(st))
	if peers {
		out = append(out, peerLines(st)...)
	}
	return out
}

// state says in words how far a transfer is.
func state(st peer.Status) string {
	switch {
	case st.Length < 0:
		return string(st.Phase)
	case st.Phase == peer.Whole && st.Have < st.Length:
		return fmt.Sprintf("damaged, serving %d%% of %s", format.Percent(st.Have, st.Length), format.Size(st.Length))
	case st.Phase == peer.Whole && st.Seed:
		return "seeding " + format.Size(st.Length)
	case st.Phase == peer.Whole:
		return "whole, serving " + format.Size(st.Length)
	}
	text := fmt.Sprintf("%s, %d%% of %s", st.Phase, format.Percent(st.Have, st.Length), format.Size(st.Length))
	if in, left := st.Rate.WANIn+st.Rate.LANIn, st.Length-st.Have; st.Phase == peer.Fetching && in > 0 && left > 0 {
		text += fmt.Sprintf(", %s left", format.Span(time.Duration(float64(left)/float64(in)*float64(time.Second))))
	}
	return text
}

func flow(bytes, perSecond int64, net string) string {
	text := net + " " + format.Size(bytes)
	if perSecond > 0 {
		text += " (" + format.Rate(perSecond) + ")"
	}
	return text
}

func peerSummary(st peer.Status) string {
	local := 0
	for _, p := range st.Peers {
		if p.Local {
			local++
		}
	}
	return fmt.Sprintf("%d in this cluster, %d in others", local, len(st.Peers)-local)
}

// peerLines lists the peers, those of the own cluster first.
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
		have := fmt.Sprintf("%3d%%", format.Percent(int64(p.Have), int64(st.Pieces)))
		if st.PiecesHave == st.Pieces {
			have = "   -" // who is whole is not told any more what others get
		}
		line := fmt.Sprintf("    %-52s %-10s %s  %9s  %s", p.ID, p.Cluster, have, format.Rate(p.Rate), roundTrip(p.RTT))
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

// fleetLines shows what the trackers know.
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
	pieces := 0
	for _, st := range r.Transfers {
		pieces = st.Pieces
	}
	out := []string{fmt.Sprintf("fleet: %d of %s whole", r.Fleet.Whole(), format.Count(r.Fleet.Nodes(), "node"))}
	for _, c := range r.Fleet.Clusters {
		out = append(out, "  "+clusterLine(c, pieces))
	}
	return out
}
