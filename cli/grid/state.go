package grid

import "time"

// State is how far the nodes of a grid are.
type State struct {
	Took     time.Duration
	Clusters []Cluster
}

// Cluster is a cluster of a grid at a moment.
type Cluster struct {
	Name             string
	Nodes            []Node
	Have, Length     int64 // of all nodes
	FromWAN, FromLAN int64
}

// Node is a node of a grid at a moment.
type Node struct {
	Name         string
	Have, Length int64
}

// State is the state of the grid now.
func (gr *Grid) State() State {
	s := State{Took: time.Since(gr.began)}
	length := gr.source.transfer.Status().Length
	for _, n := range gr.nodes {
		if len(s.Clusters) == 0 || s.Clusters[len(s.Clusters)-1].Name != n.cluster {
			s.Clusters = append(s.Clusters, Cluster{Name: n.cluster})
		}
		c := &s.Clusters[len(s.Clusters)-1]
		st := n.transfer.Status()
		c.Nodes = append(c.Nodes, Node{n.name, st.Have, length})
		c.Have, c.Length = c.Have+st.Have, c.Length+length
		c.FromWAN, c.FromLAN = c.FromWAN+st.Traffic.WANIn, c.FromLAN+st.Traffic.LANIn
	}
	return s
}
