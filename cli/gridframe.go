package cli

import (
	"fmt"
	"strings"
	"time"
)

// gridFrame shows how far the nodes of a grid are.
type gridFrame struct {
	took     time.Duration
	clusters []clusterState
}

// clusterState is a cluster of a grid at a moment.
type clusterState struct {
	name             string
	nodes            []nodeState
	have, length     int64 // of all nodes
	fromWAN, fromLAN int64
	whole            int
}

// nodeState is a node of a grid at a moment.
type nodeState struct {
	name         string
	have, length int64
}

// frame is the state of the grid now.
func (gr *grid) frame() gridFrame {
	f := gridFrame{took: time.Since(gr.began)}
	length := gr.source.transfer.Status().Length
	for _, n := range gr.nodes {
		if len(f.clusters) == 0 || f.clusters[len(f.clusters)-1].name != n.cluster {
			f.clusters = append(f.clusters, clusterState{name: n.cluster})
		}
		c := &f.clusters[len(f.clusters)-1]
		st := n.transfer.Status()
		c.nodes = append(c.nodes, nodeState{n.name, st.Have, length})
		c.have, c.length = c.have+st.Have, c.length+length
		c.fromWAN, c.fromLAN = c.fromWAN+st.Traffic.WANIn, c.fromLAN+st.Traffic.LANIn
		if st.Have == length {
			c.whole++
		}
	}
	return f
}

// picture has a line per cluster and one per node, or the former alone when that
// is all that can be seen at once.
func (f gridFrame) picture(width int) []string {
	w := max(10, min(width-60, 40))
	lines := []string{fmt.Sprintf("%6.1fs", f.took.Seconds())}
	nodes := 0
	for _, c := range f.clusters {
		nodes += len(c.nodes)
	}
	for _, c := range f.clusters {
		lines = append(lines, fmt.Sprintf("%-8s %s %3d%%  wan %7s  lan %7s", c.name, bar(c.have, c.length, w),
			percent(c.have, c.length), size(c.fromWAN), size(c.fromLAN)))
		for _, n := range c.nodes {
			if nodes <= 16 {
				name := strings.TrimPrefix(n.name, c.name+"-")
				lines = append(lines, fmt.Sprintf("  %-6s %s %3d%%", name, bar(n.have, n.length, w), percent(n.have, n.length)))
			}
		}
	}
	return lines
}

func (f gridFrame) line() string {
	text := []string{fmt.Sprintf("%.1fs", f.took.Seconds())}
	for _, c := range f.clusters {
		text = append(text, fmt.Sprintf("%s %d%% (wan %s, lan %s)", c.name, percent(c.have, c.length), size(c.fromWAN), size(c.fromLAN)))
	}
	return strings.Join(text, "  ")
}
