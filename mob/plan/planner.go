package plan

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// errUnlimited says that rates cannot be shared out, since there are none.
var errUnlimited = errors.New("nothing limits the rates between these hosts: give a link or an interface a rate")

// algorithm is a way to plan.
type algorithm struct {
	name string
	// most is the number of hosts that it can plan for in a few seconds.
	most int
	plan func(*job) ([]Tree, error)
	// paced means that each tree gets its rate and no more. Other plans are one tree, in which each
	// host sends as fast as links let it.
	paced bool
}

func algorithms() []algorithm {
	return []algorithm{
		{name: "stable", most: 2000, plan: stable, paced: true},
		{name: "fpfr", most: 2000, plan: fpfr, paced: true},
		{name: "balanced", most: 500, plan: balanced, paced: true},
		{name: "dijkstra", most: maxHosts, plan: dijkstra},
		{name: "flat", most: maxHosts, plan: flat},
		{name: "random", most: maxHosts, plan: random},
		{name: "chain", most: maxHosts, plan: chain},
		{name: "edmonds", most: 2000, plan: edmonds, paced: true},
	}
}

// Algorithms lists the names of the algorithms that plan.
func Algorithms() []string {
	var names []string
	for _, a := range algorithms() {
		names = append(names, a.name)
	}
	return names
}

func findAlgorithm(name string) (algorithm, error) {
	for _, a := range algorithms() {
		if a.name == name {
			return a, nil
		}
	}
	return algorithm{}, fmt.Errorf("unknown algorithm %q: use one of %s", name, strings.Join(Algorithms(), ", "))
}

// CheckAlgorithm reports an error that lists the algorithms, unless it has one of the name.
func CheckAlgorithm(name string) error {
	_, err := findAlgorithm(name)
	return err
}

// Plan plans a broadcast from a source to hosts, or to all other hosts if none are given. One seed of
// random choices gives one plan.
func (n *Network) Plan(algorithm, source string, to []string, seed uint64) (*Plan, error) {
	a, err := findAlgorithm(algorithm)
	if err != nil {
		return nil, err
	}
	j, err := n.newJob(source, to, seed)
	if err != nil {
		return nil, err
	}
	if len(j.at) > a.most {
		return nil, fmt.Errorf("%d hosts are too many for %s, which plans for at most %d: "+
			"chain and dijkstra plan for %d", len(j.at), a.name, a.most, maxHosts)
	}
	p := &Plan{}
	for _, h := range j.at {
		p.Hosts = append(p.Hosts, n.hosts[h].Name)
		p.Clusters = append(p.Clusters, n.hosts[h].Cluster)
	}
	p.Trees, err = a.plan(j)
	return p, err
}

// host returns the number of a host.
func (n *Network) host(name string) (int, error) {
	i, ok := n.nodes[name]
	if !ok || !n.isHost(int32(i)) {
		return 0, fmt.Errorf("the topology has no host %q", name)
	}
	return i, nil
}

// job is a broadcast to plan. It numbers its hosts, the source 0.
type job struct {
	*Network
	at   []int32 // the hosts, by their numbers in the network
	seed uint64
	buf  []int32 // of way
}

func (n *Network) newJob(source string, to []string, seed uint64) (*job, error) {
	from, err := n.host(source)
	if err != nil {
		return nil, err
	}
	j := &job{Network: n, at: []int32{int32(from)}, seed: seed}
	if to == nil {
		for h := range n.hosts {
			if h != from {
				j.at = append(j.at, int32(h))
			}
		}
	}
	seen := map[int]bool{from: true}
	for _, name := range to {
		h, err := n.host(name)
		switch {
		case err != nil:
			return nil, err
		case seen[h]:
			return nil, fmt.Errorf("duplicate host %s, or it is the source", name)
		}
		seen[h] = true
		j.at = append(j.at, int32(h))
	}
	if len(j.at) == 1 {
		return nil, errors.New("there is no host to send to")
	}
	return j, nil
}

// way returns the limits between two hosts of the broadcast, until the next call, and whether
// there is a way.
func (j *job) way(from, to int) ([]int32, bool) {
	var ok bool
	j.buf, ok = j.route(j.at[from], j.at[to], j.buf[:0])
	return j.buf, ok
}

// uses counts how often a tree goes through each limit.
func (j *job) uses(parents []int) ([]int32, error) {
	uses := make([]int32, len(j.limits))
	for h, parent := range parents {
		if parent < 0 {
			continue
		}
		limits, ok := j.way(parent, h)
		if !ok {
			return nil, fmt.Errorf("no route leads from %s to %s", j.hosts[j.at[parent]].Name, j.hosts[j.at[h]].Name)
		}
		for _, l := range limits {
			uses[l]++
		}
	}
	return uses, nil
}

// one makes a plan of one tree, with the highest rate that all its edges can have concurrently.
func (j *job) one(parents []int) ([]Tree, error) {
	uses, err := j.uses(parents)
	if err != nil {
		return nil, err
	}
	rate := math.Inf(1)
	for l, n := range uses {
		if n > 0 {
			rate = min(rate, j.limits[l].rate/float64(n))
		}
	}
	if math.IsInf(rate, 1) {
		return nil, errUnlimited
	}
	return []Tree{{rate, parents}}, nil
}

func (j *job) rng() *rand.Rand { return rand.New(rand.NewPCG(j.seed, 0x706c616e)) }
