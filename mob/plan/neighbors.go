package plan

import "slices"

// Index returns the number of a host, -1 if it is not in the plan.
func (p *Plan) Index(host string) int { return slices.Index(p.Hosts, host) }

// Neighbors returns the parents and then the children of a host in all trees, each once.
func (p *Plan) Neighbors(host int) []int {
	if host < 0 {
		return nil
	}
	var all []int
	seen := make([]bool, len(p.Hosts))
	add := func(h int) {
		if !seen[h] {
			seen[h] = true
			all = append(all, h)
		}
	}
	for _, t := range p.Trees {
		if parent := t.Parents[host]; parent >= 0 {
			add(parent)
		}
	}
	for _, t := range p.Trees {
		for h, parent := range t.Parents {
			if parent == host {
				add(h)
			}
		}
	}
	return all
}
