package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/mobgrid/mob/cli/term"
)

// frame shows the progress of all nodes of a demo.
type frame struct {
	took     time.Duration
	length   int64
	clusters []*cluster
}

// cluster is the progress of one cluster, and its part of the receipt.
type cluster struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`
	FromWAN int64  `json:"from_wan"`
	FromLAN int64  `json:"from_lan"`
	// WANCopies is FromWAN in sizes of the content.
	WANCopies float64 `json:"wan_copies"`
	Intact    int     `json:"intact"` // set in a receipt

	have   int64   // of all nodes
	haveOf []int64 // of each node
}

// frame returns the progress of the grid now.
func (g *grid) frame() frame {
	f := frame{took: time.Since(g.began), length: g.length}
	var c *cluster
	for _, n := range g.nodes {
		if c == nil || c.Name != n.cluster {
			c = &cluster{Name: n.cluster}
			f.clusters = append(f.clusters, c)
		}
		st := n.transfer.Progress()
		c.Nodes++
		c.FromWAN += st.Traffic.WANIn
		c.FromLAN += st.Traffic.LANIn
		c.WANCopies = float64(c.FromWAN) / float64(g.length)
		c.have += st.Have
		c.haveOf = append(c.haveOf, st.Have)
	}
	return f
}

// percent returns the progress of a cluster.
func (f frame) percent(c *cluster) int { return term.Percent(c.have, f.length*int64(c.Nodes)) }

// maxNodes bounds the nodes that have a line each.
const maxNodes = 16

// Picture implements [term.Frame].
func (f frame) Picture(width int) []string {
	w := max(10, min(width-60, 40))
	lines := []string{fmt.Sprintf("%6.1fs", f.took.Seconds())}
	for _, c := range f.clusters {
		lines = append(lines, fmt.Sprintf("%-8s %s %3d%%  WAN %7s  LAN %7s", c.Name, term.Bar(c.have, f.length*int64(c.Nodes), w),
			f.percent(c), term.Bytes(c.FromWAN), term.Bytes(c.FromLAN)))
		if len(f.clusters)*c.Nodes > maxNodes {
			continue
		}
		for i, have := range c.haveOf {
			lines = append(lines, fmt.Sprintf("  node-%d %s %3d%%", i+1, term.Bar(have, f.length, w), term.Percent(have, f.length)))
		}
	}
	return lines
}

// Line implements [term.Frame].
func (f frame) Line() string {
	text := []string{fmt.Sprintf("%.1fs", f.took.Seconds())}
	for _, c := range f.clusters {
		text = append(text, fmt.Sprintf("%s %d%% (WAN %s, LAN %s)", c.Name, f.percent(c), term.Bytes(c.FromWAN), term.Bytes(c.FromLAN)))
	}
	return strings.Join(text, "  ")
}
