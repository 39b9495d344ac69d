package network

import (
	"github.com/ipfs/go-cid"
	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/peer/shortname"
	"github.com/mobgrid/mob/tracker"
)

// maxFleetClusters bounds the clusters that the page of a tracker shows of a swarm.
const maxFleetClusters = 64

// fleetPage is the content of the page of a tracker.
type fleetPage struct {
	ID      string       `json:"id"`
	Version string       `json:"version"`
	Swarms  int          `json:"swarms"`
	Nodes   int          `json:"nodes"`
	Largest []fleetSwarm `json:"largest"`
	// Clusters lists the clusters of one swarm.
	Swarm    string         `json:"swarm,omitempty"`
	Clusters []fleetCluster `json:"clusters"`
	More     int            `json:"more,omitempty"` // clusters that are not among them
	// Sites are the clusters added up, where their names are paths.
	Sites []fleetCluster `json:"sites,omitempty"`
}

// fleetSwarm is a swarm in the list of all.
type fleetSwarm struct {
	ID       string `json:"id"`
	Nodes    int    `json:"nodes"`
	Whole    int    `json:"whole"`
	Clusters int    `json:"clusters"`
}

// fleetCluster is a cluster of the swarm that is looked at, or a site.
type fleetCluster struct {
	Name       string           `json:"name"`
	Nodes      int              `json:"nodes"`
	Whole      int              `json:"whole"`
	Missing    float64          `json:"missing"` // part of what its nodes are to have
	Copies     float64          `json:"copies"`
	Flows      []fleetFlow      `json:"flows"`
	Stragglers []fleetStraggler `json:"stragglers,omitempty"`
}

// fleetFlow is the traffic from a cluster, in bytes and bytes per second.
type fleetFlow struct {
	From  string `json:"from"`
	Bytes int64  `json:"bytes"`
	Rate  int64  `json:"rate"`
}

// fleetStraggler is a node that is far behind the median.
type fleetStraggler struct {
	ID   string  `json:"id"`
	Part float64 `json:"part"` // of the content, that it has
}

// registerFleet adds the page of a tracker to the server of --http.
func registerFleet(s *web.Server, h libhost.Host, t *tracker.Server, names *shortname.Names) {
	s.HandleStream("GET /events", func(detail string) any {
		p := newFleetPage(t.Overview(swarmKey(t, detail, names)))
		p.ID, p.Version = h.ID().String(), command.Version()
		return p
	}, names.Replace)
	s.HandlePage("fleet.html")
}

func newFleetPage(o *tracker.Overview) *fleetPage {
	p := &fleetPage{Swarms: o.Swarms, Nodes: o.Members, Largest: []fleetSwarm{}, Swarm: swarmID(o.Key)}
	pieces := 0
	for _, s := range o.Largest {
		p.Largest = append(p.Largest, fleetSwarm{swarmID(s.Key), s.Nodes, s.Whole, s.Clusters})
		if string(s.Key) == string(o.Key) {
			pieces = s.Pieces
		}
	}
	p.More = max(0, len(o.Clusters)-maxFleetClusters)
	clusters, sites := o.Clusters[:len(o.Clusters)-p.More], o.Sites[:min(len(o.Sites), maxFleetClusters)]
	shown := map[string]bool{}
	for _, c := range clusters {
		shown[c.Name] = true
	}
	for _, c := range sites {
		shown[c.Name] = true
	}
	p.Clusters, p.Sites = fleetClusters(clusters, shown, pieces), fleetClusters(sites, shown, pieces)
	return p
}

// fleetClusters returns clusters with the flows from clusters in shown. pieces is the number of pieces of the content.
func fleetClusters(clusters []tracker.ClusterOverview, shown map[string]bool, pieces int) []fleetCluster {
	out := []fleetCluster{}
	for _, c := range clusters {
		fc := fleetCluster{Name: c.Name, Nodes: c.Nodes, Whole: c.Whole, Copies: c.Copies, Flows: []fleetFlow{}}
		fc.Missing = float64(c.Missing) / float64(max(c.Nodes*pieces, 1))
		for _, f := range c.Flows {
			if shown[f.From] {
				fc.Flows = append(fc.Flows, fleetFlow{f.From, f.Bytes, f.Rate})
			}
		}
		for _, s := range c.Stragglers {
			fc.Stragglers = append(fc.Stragglers, fleetStraggler{libpeer.ID(s.ID).String(), float64(s.Have) / float64(max(pieces, 1))})
		}
		out = append(out, fc)
	}
	return out
}

// swarmKey returns the key of the swarm with a content id, or with a short name that the page shows. It is nil if
// there is none.
func swarmKey(t *tracker.Server, name string, names *shortname.Names) []byte {
	if c, err := cid.Decode(name); err == nil {
		return c.Bytes()
	}
	if name == "" {
		return nil
	}
	for _, s := range t.Overview(nil).Largest {
		if c, err := cid.Cast(s.Key); err == nil && names.Of(c) == name {
			return s.Key
		}
	}
	return nil
}

// swarmID returns the content id of a swarm's key, empty if it is none.
func swarmID(key []byte) string {
	c, err := cid.Cast(key)
	if err != nil {
		return ""
	}
	return c.String()
}
