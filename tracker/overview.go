package tracker

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mobgrid/mob/proto"
)

// Bounds of an [Overview].
const (
	maxSwarms     = 50
	maxStragglers = 3 // of a cluster
)

// Overview is what a tracker knows, for people.
type Overview struct {
	// Swarms and Members count all of them, a node once for each swarm.
	Swarms, Members int
	// Largest are the swarms with the most members, the largest first.
	Largest []SwarmOverview
	// Clusters are those of one swarm: the one that was asked for, or else the largest.
	Key      []byte
	Clusters []ClusterOverview
}

// SwarmOverview is the progress of a swarm.
type SwarmOverview struct {
	Key                    []byte // binary CID
	Nodes, Whole, Clusters int
	Pieces                 int // of the content, 0 while unknown
}

// ClusterOverview is the progress of a cluster of a swarm.
type ClusterOverview struct {
	Name         string
	Nodes, Whole int
	Missing      uint64 // pieces that its nodes lack, added up
	// Copies is how often the content came into the cluster, as its nodes that are there say.
	Copies float64
	// Flows are what came from each cluster, its own included.
	Flows []FlowOverview
	// Stragglers are nodes that lack much more than others do, at most three.
	Stragglers []Straggler
}

// FlowOverview is payload from a cluster, in bytes and in bytes per second.
type FlowOverview struct {
	From  string
	Bytes int64
	Rate  int64
}

// Straggler is a node that lacks much more of the content than others do.
type Straggler struct {
	ID          proto.PeerID
	Have, Total int // pieces; Total is 0 while the node does not know the manifest
}

// Overview returns what the tracker knows now. key names the swarm whose clusters are wanted.
func (s *Server) Overview(key []byte) *Overview {
	s.state.Lock()
	defer s.state.Unlock()
	t := s.state.table
	t.expire(s.clock())
	o := &Overview{Swarms: len(t.swarms), Members: t.members()}
	var largest []*swarm
	for _, sw := range t.swarms {
		largest = append(largest, sw)
	}
	slices.SortFunc(largest, func(a, b *swarm) int {
		return cmp.Or(-cmp.Compare(len(a.members), len(b.members)), strings.Compare(a.key, b.key))
	})
	for _, sw := range largest[:min(len(largest), maxSwarms)] {
		so := SwarmOverview{Key: []byte(sw.key), Nodes: len(sw.members), Clusters: len(sw.clusters), Pieces: int(sw.total)}
		for _, c := range sw.clusters {
			so.Whole += int(c.whole)
		}
		o.Largest = append(o.Largest, so)
	}
	sw := t.swarms[string(key)]
	if sw == nil && len(largest) > 0 {
		sw = largest[0]
	}
	if sw != nil {
		o.Key, o.Clusters = []byte(sw.key), sw.overview()
	}
	return o
}

// missing returns the pieces that the members of a cluster lack.
func (s *swarm) missing(c *cluster) uint64 {
	// A member without the manifest lacks every piece.
	return c.missing + uint64(c.unknownTotal)*uint64(s.total)
}

func (s *swarm) overview() []ClusterOverview {
	var missing uint64
	var whole int
	for _, c := range s.clusters {
		missing += s.missing(c)
		whole += int(c.whole)
	}
	// Far behind is who lacks twice what a member lacks in the mean, and a twentieth of the content.
	// While few are whole nobody is: what a member lacked at its last announce may have come since.
	far := max(2*missing/uint64(len(s.members)), uint64(s.total)/20, 1)
	if 2*whole < len(s.members) {
		far = math.MaxUint64
	}
	out := make([]ClusterOverview, 0, len(s.clusters))
	for _, c := range s.clusters {
		co := ClusterOverview{
			Name: c.name, Nodes: len(c.members), Whole: int(c.whole), Missing: s.missing(c),
			Copies:     float64(c.inflow.copies) / copiesUnit,
			Stragglers: c.stragglers(s.total, far),
		}
		for _, f := range c.inflow.from {
			co.Flows = append(co.Flows, FlowOverview{f.from, int64(f.bytes), int64(f.rate)})
		}
		slices.SortFunc(co.Flows, func(a, b FlowOverview) int { return strings.Compare(a.From, b.From) })
		out = append(out, co)
	}
	return out
}

// stragglers returns the members that lack far pieces or more, those that lack most first.
func (c *cluster) stragglers(total uint32, far uint64) (out []Straggler) {
	for _, m := range c.members {
		lacks := uint64(m.total - m.have)
		if m.total == 0 {
			lacks = uint64(total)
		}
		if lacks < far {
			continue
		}
		i, _ := slices.BinarySearchFunc(out, m.have, func(s Straggler, have uint32) int { return cmp.Compare(s.Have, int(have)) })
		if i < maxStragglers {
			out = slices.Insert(out, i, Straggler{m.id, int(m.have), int(m.total)})
			out = out[:min(len(out), maxStragglers)]
		}
	}
	return out
}
