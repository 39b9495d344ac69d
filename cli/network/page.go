package network

import (
	"slices"

	"github.com/ipfs/go-cid"
	libhost "github.com/libp2p/go-libp2p/core/host"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/web"
	"github.com/mobgrid/mob/peer/shortname"
	"github.com/mobgrid/mob/tracker"
)

// maxFleetClusters bounds the clusters that the page of a tracker shows of a swarm.
const maxFleetClusters = 64

// fleetPage is an event of the page of a tracker.
type fleetPage struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	tracker.Overview
	More int `json:"more,omitempty"` // clusters that are not among them
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

// newFleetPage returns the first clusters and sites of an overview, with the flows between them.
func newFleetPage(o *tracker.Overview) *fleetPage {
	p := &fleetPage{Overview: *o, More: max(0, len(o.Clusters)-maxFleetClusters)}
	p.Clusters = o.Clusters[:len(o.Clusters)-p.More]
	p.Sites = o.Sites[:min(len(o.Sites), maxFleetClusters)]
	shown := map[string]bool{}
	for _, c := range slices.Concat(p.Clusters, p.Sites) {
		shown[c.Name] = true
	}
	for _, list := range [][]tracker.ClusterOverview{p.Clusters, p.Sites} {
		for i := range list {
			list[i].Flows = slices.DeleteFunc(append([]tracker.FlowOverview{}, list[i].Flows...),
				func(f tracker.FlowOverview) bool { return !shown[f.From] })
		}
	}
	return p
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
	for _, id := range t.Largest() {
		if c, err := cid.Decode(id); err == nil && names.Of(c) == name {
			return c.Bytes()
		}
	}
	return nil
}
