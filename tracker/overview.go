package tracker

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/ipfs/go-cid"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

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
	Swarms  int `json:"swarms"`
	Members int `json:"nodes"`
	// Largest are the swarms with the most members, the largest first.
	Largest []SwarmOverview `json:"largest"`
	// Clusters are those of one swarm: the one that was asked for, or else the largest.
	Swarm    string            `json:"swarm,omitempty"` // its content id
	Clusters []ClusterOverview `json:"clusters"`
	// Sites are the same clusters added up by the first parts of their names, nil where all
	// names have one part.
	Sites []ClusterOverview `json:"sites,omitempty"`
}

// SwarmOverview is the progress of a swarm.
type SwarmOverview struct {
	ID       string `json:"id"` // the content id, empty if the key is not a CID
	Nodes    int    `json:"nodes"`
	Whole    int    `json:"whole"`
	Clusters int    `json:"clusters"`
	Pieces   int    `json:"pieces"` // of the content, 0 while unknown
}

// ClusterOverview is the progress of a cluster of a swarm, or of a site.
type ClusterOverview struct {
	Name    string `json:"name"`
	Nodes   int    `json:"nodes"`
	Whole   int    `json:"whole"`
	Missing uint64 `json:"missing"` // sum of the missing pieces of its nodes
	// Copies is how often the content came into the cluster, as its nodes that are there say: into
	// a rack from anywhere outside of it, into a site from other sites.
	Copies float64 `json:"copies"`
	// Flows are what came from each cluster, its own included. Other sites, and other racks of the
	// own site, are one each.
	Flows []FlowOverview `json:"flows"`
	// Stragglers are nodes that lack much more than others do, at most three.
	Stragglers []Straggler `json:"stragglers,omitempty"`
}

// FlowOverview is payload from a cluster, in bytes and in bytes per second.
type FlowOverview struct {
	From  string `json:"from"`
	Bytes int64  `json:"bytes"`
	Rate  int64  `json:"rate"`
}

// Straggler is a node that lacks much more of the content than others do.
type Straggler struct {
	ID    string `json:"id"`
	Have  int    `json:"have"`  // pieces
	Total int    `json:"total"` // 0 while the node does not know the manifest
}

// swarmID returns the content id of a swarm's key, empty if it is not a CID.
func swarmID(key string) string {
	c, err := cid.Cast([]byte(key))
	if err != nil {
		return ""
	}
	return c.String()
}

// Overview returns what the tracker knows now. key names the swarm whose clusters are wanted.
func (s *Server) Overview(key []byte) *Overview {
	s.state.Lock()
	defer s.state.Unlock()
	t := s.state.table
	t.expire(s.clock())
	o := &Overview{Swarms: len(t.swarms), Members: t.members(), Largest: []SwarmOverview{}, Clusters: []ClusterOverview{}}
	var largest []*swarm
	for _, sw := range t.swarms {
		largest = append(largest, sw)
	}
	slices.SortFunc(largest, func(a, b *swarm) int {
		return cmp.Or(-cmp.Compare(len(a.members), len(b.members)), strings.Compare(a.key, b.key))
	})
	for _, sw := range largest[:min(len(largest), maxSwarms)] {
		so := SwarmOverview{ID: swarmID(sw.key), Nodes: len(sw.members), Clusters: sw.clusters, Pieces: int(sw.total)}
		for c := range sw.all() {
			so.Whole += int(c.whole)
		}
		o.Largest = append(o.Largest, so)
	}
	sw := t.swarms[string(key)]
	if sw == nil && len(largest) > 0 {
		sw = largest[0]
	}
	if sw != nil {
		o.Swarm, o.Clusters = swarmID(sw.key), sw.overview(proto.MaxClusterParts)
		if slices.ContainsFunc(o.Clusters, func(c ClusterOverview) bool { return proto.ClusterParts(c.Name) > 1 }) {
			o.Sites = sw.overview(1)
		}
	}
	return o
}

// missing returns the pieces that the members of a cluster lack.
func (s *swarm) missing(c *group) uint64 {
	// A member without the manifest lacks every piece.
	return c.missing + uint64(c.unknownTotal)*uint64(s.total)
}

// overview returns the clusters, added up by so many first parts of their names.
func (s *swarm) overview(parts int) (out []ClusterOverview) {
	var missing uint64
	var whole int
	for c := range s.all() {
		missing += s.missing(c)
		whole += int(c.whole)
	}
	// Far behind is who lacks twice what a member lacks in the mean, and a twentieth of the content.
	// While few are whole nobody is: what a member lacked at its last announce may have come since.
	far := max(2*missing/uint64(len(s.members)), uint64(s.total)/20, 1)
	if 2*whole < len(s.members) {
		far = math.MaxUint64
	}
	for c := range s.all() {
		name := proto.ClusterGroup(c.name, parts)
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, ClusterOverview{Name: name})
		}
		co := &out[len(out)-1]
		co.Nodes += c.nodes
		co.Whole += int(c.whole)
		co.Missing += s.missing(c)
		co.Copies += float64(c.inflow.copies[proto.ClusterParts(name)-1]) / copiesUnit
		for _, f := range c.inflow.from {
			co.addFlow(FlowOverview{proto.ClusterGroup(f.from, parts), int64(f.bytes), int64(f.rate)})
		}
		for _, m := range c.members {
			if m.cluster == c {
				co.addStraggler(m, s.total, far)
			}
		}
	}
	return out
}

// addFlow adds a flow to the one from the same cluster.
func (co *ClusterOverview) addFlow(f FlowOverview) {
	i, found := slices.BinarySearchFunc(co.Flows, f.From, func(f FlowOverview, from string) int {
		return strings.Compare(f.From, from)
	})
	if !found {
		co.Flows = slices.Insert(co.Flows, i, f)
		return
	}
	co.Flows[i].Bytes += f.Bytes
	co.Flows[i].Rate += f.Rate
}

// addStraggler names a member if it lacks far pieces or more, unless others lack more.
func (co *ClusterOverview) addStraggler(m *member, total uint32, far uint64) {
	lacks := uint64(m.total - m.have)
	if m.total == 0 {
		lacks = uint64(total)
	}
	if lacks < far {
		return
	}
	i, _ := slices.BinarySearchFunc(co.Stragglers, m.have, func(s Straggler, have uint32) int {
		return cmp.Compare(s.Have, int(have))
	})
	if i < maxStragglers {
		all := slices.Insert(co.Stragglers, i, Straggler{libpeer.ID(m.id).String(), int(m.have), int(m.total)})
		co.Stragglers = all[:min(len(all), maxStragglers)]
	}
}
