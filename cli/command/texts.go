package command

import (
	"cmp"
	"fmt"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// Waiting returns what a transfer waits for.
func Waiting(st peer.Status) string {
	if st.Length < 0 || st.Phase == peer.Seeking {
		return cmp.Or(st.Waiting, "looking for the content")
	}
	return "waiting for " + st.Waiting
}

// Isolation formats the isolation of a transfer, empty if it has none.
func Isolation(st peer.Status) string {
	i, comes := st.Isolation, "comes"
	if i == nil {
		return ""
	}
	if st.Phase == peer.Whole {
		comes = "came"
	}
	are := "members of cluster " + i.Cluster + " are"
	if i.Known == 1 {
		are = "member of cluster " + i.Cluster + " is"
	}
	return fmt.Sprintf("%d %s known, none can be reached: everything %s over the WAN; last error: %s", i.Known, are, comes, i.Err)
}

// DroppedBits formats the number of files that lost special bits.
func DroppedBits(n int) string {
	return term.Plural(n, "file") + " without the setuid, setgid or sticky bit of the source"
}

// ClusterLine formats the progress of a cluster. pieces is the number of pieces of the content, 0 if
// it is not known.
func ClusterLine(c proto.ScrapeCluster, pieces int) string {
	line := fmt.Sprintf("%-16s %d of %s complete", c.Name, c.Whole, term.Plural(int(c.Nodes), "node"))
	if c.Missing == 0 {
		return line
	}
	if all := pieces * int(c.Nodes); all > 0 {
		return fmt.Sprintf("%s, %d%% done", line, term.Percent(int64(all)-int64(c.Missing), int64(all)))
	}
	return line + ", " + term.Plural(int(c.Missing), "piece") + " missing"
}

// Networks returns the traffic of a transfer over the WAN, and over the LAN or by the groups that the node is in.
func Networks(st peer.Status) []peer.Level {
	sum, rate := st.Traffic, st.Rate
	wan := peer.Level{Group: "WAN", In: sum.WANIn, Out: sum.WANOut, InRate: rate.WANIn, OutRate: rate.WANOut}
	if len(st.Levels) > 0 {
		return append([]peer.Level{wan}, st.Levels...)
	}
	return []peer.Level{wan, {Group: "LAN", In: sum.LANIn, Out: sum.LANOut, InRate: rate.LANIn, OutRate: rate.LANOut}}
}

// LeftOut formats what a transfer does not fetch.
func LeftOut(l peer.LeftOut) string {
	return fmt.Sprintf("left out: %s, %s", term.Plural(l.Files, "file"), term.Bytes(l.Bytes))
}
