package plan

import (
	"errors"
	"fmt"
	"math"
)

// Plan assigns pieces to weighted trees over hosts.
type Plan struct {
	// Hosts are the names of the hosts. The first is the source.
	Hosts []string
	// Clusters are the clusters of the hosts, in their order. They are nil, or some are empty,
	// where they are not known.
	Clusters []string
	// Trees are the trees. The first has every host that the source reaches; the hosts of each other
	// tree are a subset of the hosts of the tree before it: see Route.
	Trees []Tree
}

// Tree is one way from the source to hosts.
type Tree struct {
	// Rate is the planned rate through the tree, in bytes per second.
	Rate float64
	// Parents has for each host the host that sends to it, and -1 for the source and for hosts that
	// are not in the tree.
	Parents []int
}

// Validate returns an error for a plan of another node that is invalid. A plan has a source, hosts
// that differ, and trees: their rates are finite and more than 0, the first has all hosts, each
// leads from the source to every host in it, and each has only hosts of the tree before it.
func (p *Plan) Validate() error {
	if len(p.Hosts) == 0 || len(p.Trees) == 0 && len(p.Hosts) > 1 {
		return errors.New("plan: no source, or no trees")
	}
	if p.Clusters != nil && len(p.Clusters) != len(p.Hosts) {
		return fmt.Errorf("plan: clusters of %d hosts, must be %d", len(p.Clusters), len(p.Hosts))
	}
	seen := make(map[string]bool, len(p.Hosts))
	for _, h := range p.Hosts {
		if seen[h] {
			return fmt.Errorf("plan: host %q twice", h)
		}
		seen[h] = true
	}
	for i := range p.Trees {
		if err := p.checkTree(i); err != nil {
			return fmt.Errorf("plan: tree %d: %w", i+1, err)
		}
	}
	return nil
}

func (p *Plan) checkTree(i int) error {
	t := &p.Trees[i]
	switch {
	case !(t.Rate > 0) || math.IsInf(t.Rate, 1):
		return fmt.Errorf("rate %v", t.Rate)
	case len(t.Parents) != len(p.Hosts):
		return fmt.Errorf("%d parents for %d hosts", len(t.Parents), len(p.Hosts))
	case t.Parents[0] != -1:
		return errors.New("the source has a parent")
	}
	for h, parent := range t.Parents {
		switch {
		case parent < -1 || parent >= len(p.Hosts):
			return fmt.Errorf("host %d has parent %d of %d hosts", h, parent, len(p.Hosts))
		case h > 0 && i == 0 && parent < 0:
			return fmt.Errorf("%s is not in the first tree", p.Hosts[h])
		case i > 0 && parent >= 0 && p.Trees[i-1].Parents[h] < 0:
			return fmt.Errorf("%s is in it, and not in the tree before it", p.Hosts[h])
		}
	}
	if h := t.unreached(); h >= 0 {
		return fmt.Errorf("%s has no way from the source", p.Hosts[h])
	}
	return nil
}

// unreached returns a host of the tree that the source does not reach, and -1 if there is none.
func (t *Tree) unreached() int {
	children := make([][]int, len(t.Parents))
	for h, parent := range t.Parents {
		if parent >= 0 {
			children[parent] = append(children[parent], h)
		}
	}
	reached := make([]bool, len(t.Parents))
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		reached[queue[0]] = true
		queue = append(queue, children[queue[0]]...)
	}
	for h, parent := range t.Parents {
		if parent >= 0 && !reached[h] {
			return h
		}
	}
	return -1
}

// Rates returns how much each host gets from all trees, in bytes per second: 0 for the source.
func (p *Plan) Rates() []float64 {
	rates := make([]float64, len(p.Hosts))
	for _, t := range p.Trees {
		for h, parent := range t.Parents {
			if parent >= 0 {
				rates[h] += t.Rate
			}
		}
	}
	return rates
}
