package plan

import (
	"math"

	"github.com/mobgrid/mob/proto"
)

// Document returns the plan as the document that other nodes read. Rates are rounded to whole bytes
// per second, so a route is made of what [Read] returns of it.
func (p *Plan) Document() *proto.Plan {
	d := &proto.Plan{Hosts: make([]proto.PlanHost, len(p.Hosts)), Trees: make([]proto.PlanTree, len(p.Trees))}
	for h, name := range p.Hosts {
		d.Hosts[h].Name = name
		if p.Clusters != nil {
			d.Hosts[h].Cluster = p.Clusters[h]
		}
	}
	for k, t := range p.Trees {
		parents := make([]uint32, len(t.Parents))
		for h, parent := range t.Parents {
			parents[h] = uint32(parent + 1)
		}
		d.Trees[k] = proto.PlanTree{Rate: uint64(max(1, math.Round(t.Rate))), Parents: parents}
	}
	return d
}

// Read returns the plan in a document. It fails if that is not valid.
func Read(d *proto.Plan) (*Plan, error) {
	p := &Plan{Hosts: make([]string, len(d.Hosts)), Clusters: make([]string, len(d.Hosts)), Trees: make([]Tree, len(d.Trees))}
	for h, host := range d.Hosts {
		p.Hosts[h], p.Clusters[h] = host.Name, host.Cluster
	}
	for k, t := range d.Trees {
		parents := make([]int, len(t.Parents))
		for h, parent := range t.Parents {
			parents[h] = int(parent) - 1
		}
		p.Trees[k] = Tree{Rate: float64(t.Rate), Parents: parents}
	}
	return p, p.Validate()
}
