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
	clusters []cluster
}

// cluster is the progress of one cluster.
type cluster struct {
	name             string
	nodes            []progress
	have, length     int64 // of all nodes
	fromWAN, fromLAN int64
}

// progress is the progress of one node.
type progress struct {
	name         string
	have, length int64
}

// frame returns the progress of the grid now.
func (g *grid) frame() frame {
	f := frame{took: time.Since(g.began)}
	length := g.source.transfer.Progress().Length
	for _, n := range g.nodes {
		if len(f.clusters) == 0 || f.clusters[len(f.clusters)-1].name != n.cluster {
			f.clusters = append(f.clusters, cluster{name: n.cluster})
		}
		c := &f.clusters[len(f.clusters)-1]
		st := n.transfer.Progress()
		c.nodes = append(c.nodes, progress{strings.TrimPrefix(n.name, n.cluster+"-"), st.Have, length})
		c.have += st.Have
		c.length += length
		c.fromWAN += st.Traffic.WANIn
		c.fromLAN += st.Traffic.LANIn
	}
	return f
}

// Picture has a line per cluster, and one per node while these are few.
func (f frame) Picture(width int) []string {
	w := max(10, min(width-60, 40))
	lines := []string{fmt.Sprintf("%6.1fs", f.took.Seconds())}
	nodes := 0
	for _, c := range f.clusters {
		nodes += len(c.nodes)
	}
	for _, c := range f.clusters {
		lines = append(lines, fmt.Sprintf("%-8s %s %3d%%  WAN %7s  LAN %7s", c.name, term.Bar(c.have, c.length, w),
			term.Percent(c.have, c.length), term.Bytes(c.fromWAN), term.Bytes(c.fromLAN)))
		if nodes > 16 {
			continue
		}
		for _, n := range c.nodes {
			lines = append(lines, fmt.Sprintf("  %-6s %s %3d%%", n.name, term.Bar(n.have, n.length, w), term.Percent(n.have, n.length)))
		}
	}
	return lines
}

func (f frame) Line() string {
	text := []string{fmt.Sprintf("%.1fs", f.took.Seconds())}
	for _, c := range f.clusters {
		text = append(text, fmt.Sprintf("%s %d%% (WAN %s, LAN %s)",
			c.name, term.Percent(c.have, c.length), term.Bytes(c.fromWAN), term.Bytes(c.fromLAN)))
	}
	return strings.Join(text, "  ")
}
