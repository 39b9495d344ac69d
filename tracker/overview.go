package tracker

import (
	"cmp"
	"maps"
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

// Overview is the state of a tracker, for people.
type Overview struct {
	// Swarms and Members count all of them, a node once for each swarm.
	Swarms  int `json:"swarms"`
	Members int `json:"nodes"`
	// Largest are the swarms with the most members, the largest first.
	Largest []SwarmOverview `json:"largest"`
	// Clusters are the clusters of one swarm: the requested one, or else the largest.
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
	// Copies is the number of times that the content entered the cluster, as its nodes report: a rack
	// from other racks and sites, a site from other sites.
	Copies float64 `json:"copies"`
	// Flows are the payload from each cluster, including its own. Other sites, and other racks of the
	// own site, are one each.
	Flows []FlowOverview `json:"flows"`
	// Stragglers are the nodes that need most, at most three.
	Stragglers []Straggler `json:"stragglers,omitempty"`
}

// FlowOverview is payload from a cluster, in bytes and in bytes per second.
type FlowOverview struct {
	From  string `json:"from"`
	Bytes int64  `json:"bytes"`
	Rate  int64  `json:"rate"`
}

// Straggler is a node that needs many more pieces than average.
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

// Overview returns the state of the tracker, with the clusters of the swarm with a key, or of the largest if the key is unknown.
func (s *Server) Overview(key []byte) *Overview {
	s.state.Lock()
	s.state.table.expire(s.clock())
	o, sw := s.state.table.overview(string(key))
	s.state.Unlock()
	for i := range o.Largest {
		o.Largest[i].ID = swarmID(o.Largest[i].ID)
	}
	if sw != nil {
		sw.describe(o)
	}
	return o
}

// overview returns an overview without clusters and with keys of swarms as ids, and a copy of the swarm that it describes,
// nil if there is none.
func (t *table) overview(key string) (*Overview, *swarmCopy) {
	o := &Overview{Swarms: len(t.swarms), Members: t.order.Len(), Largest: []SwarmOverview{}, Clusters: []ClusterOverview{}}
	largest := t.largest()
	for _, sw := range largest {
		so := SwarmOverview{ID: sw.key, Nodes: len(sw.members), Clusters: sw.clusters, Pieces: int(sw.total)}
		for c := range sw.all() {
			so.Whole += int(c.complete)
		}
		o.Largest = append(o.Largest, so)
	}
	switch sw := t.swarms[key]; {
	case sw != nil:
		return o, sw.copy()
	case len(largest) > 0:
		return o, largest[0].copy()
	}
	return o, nil
}

// Largest returns the content ids of the swarms of [Overview.Largest].
func (s *Server) Largest() (ids []string) {
	s.state.Lock()
	defer s.state.Unlock()
	for _, sw := range s.state.table.largest() {
		ids = append(ids, swarmID(sw.key))
	}
	return ids
}

// largest returns the swarms with the most members, the largest first.
func (t *table) largest() []*swarm {
	all := slices.SortedFunc(maps.Values(t.swarms), func(a, b *swarm) int {
		return cmp.Or(-cmp.Compare(len(a.members), len(b.members)), strings.Compare(a.key, b.key))
	})
	return all[:min(len(all), maxSwarms)]
}

func (s *swarm) missing(c *group) uint64 {
	// A member without the manifest needs every piece.
	return c.missing + uint64(c.unknownTotal)*uint64(s.total)
}

// swarmCopy is a copy of the part of a swarm that an overview shows.
type swarmCopy struct {
	key      string
	total    uint32
	clusters []proto.ScrapeCluster
	members  []memberCopy // of the clusters, in the same order
}

type memberCopy struct {
	id          proto.PeerID
	have, total uint32
	ingress     *ingress // of the member: a report replaces it
}

func (s *swarm) copy() *swarmCopy {
	members := make([]memberCopy, 0, len(s.members))
	for c := range s.all() {
		for _, m := range c.members {
			if m.cluster == c {
				members = append(members, memberCopy{m.id, m.have, m.total, m.ingress})
			}
		}
	}
	return &swarmCopy{s.key, s.total, s.scrape(proto.MaxClusterParts), members}
}

// describe adds the clusters and the sites to an overview.
func (s *swarmCopy) describe(o *Overview) {
	o.Swarm, o.Clusters = swarmID(s.key), s.overview(proto.MaxClusterParts)
	if slices.ContainsFunc(o.Clusters, func(c ClusterOverview) bool { return proto.ClusterParts(c.Name) > 1 }) {
		o.Sites = s.overview(1)
	}
}

func (s *swarmCopy) overview(parts int) (out []ClusterOverview) {
	var missing uint64
	var complete int
	for _, c := range s.clusters {
		missing += c.Missing
		complete += int(c.Whole)
	}
	// A straggler needs twice the mean, and a twentieth of the content. While most members are incomplete there
	// are none: a member may have received pieces since its last announce.
	far := max(2*missing/uint64(len(s.members)), uint64(s.total)/20, 1)
	if 2*complete < len(s.members) {
		far = math.MaxUint64
	}
	rest := s.members
	for _, c := range s.clusters {
		name := proto.ClusterGroup(c.Name, parts)
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, ClusterOverview{Name: name})
		}
		co := &out[len(out)-1]
		co.Nodes += int(c.Nodes)
		co.Whole += int(c.Whole)
		co.Missing += c.Missing
		for _, m := range rest[:c.Nodes] {
			co.addStraggler(m, s.total, far)
			if m.ingress == nil {
				continue
			}
			co.Copies += m.ingress.copies[proto.ClusterParts(name)-1]
			for _, f := range m.ingress.flows {
				co.addFlow(FlowOverview{proto.ClusterGroup(f.from, parts), int64(f.bytes), int64(f.rate)})
			}
		}
		rest = rest[c.Nodes:]
	}
	return out
}

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

// addStraggler adds a member that needs far pieces or more, unless three members need more.
func (co *ClusterOverview) addStraggler(m memberCopy, total uint32, far uint64) {
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
