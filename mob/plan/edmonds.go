package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// edmonds packs trees between sites whose rates add up to Edmonds' bound (Edge-disjoint
// branchings, 1973). In a site a tree enters one host, and goes from it through all hosts, rack by
// rack. In the next tree it is another host, and other hosts send to other sites, so that all
// interfaces carry their part. Where these, or links in sites, are narrower than those between
// sites, the trees get what they leave.
func edmonds(j *job) ([]Tree, error) {
	s := newSites(j)
	if len(s.members) == 1 {
		return chain(j)
	}
	if len(s.members) > maxSites {
		return nil, fmt.Errorf("%d sites are too many for edmonds, which plans for at most %d: "+
			"give hosts that are close one cluster", len(s.members), maxSites)
	}
	k := packer{job: j, nodes: len(s.members), way: s.way}
	between, err := s.trees()
	if err == nil {
		between, err = k.pack(between, true)
	}
	if errors.Is(err, errUnlimited) { // only interfaces and links within sites limit anything
		return chain(j)
	}
	if err != nil {
		return nil, err
	}
	trees := s.fit(between)
	if trees == nil {
		return chain(j)
	}
	all := packer{job: j, nodes: len(j.at), way: j.way}
	return all.pack(trees, false)
}

// fit makes trees over hosts of trees over sites, each with the rate that interfaces and links in
// sites leave it.
func (s *sites) fit(between []Tree) (trees []Tree) {
	t := newTracer(s.job)
	load := make([]float64, len(s.at))
	for i, b := range between {
		parents := s.expand(b, i, load)
		for h, parent := range parents {
			if parent >= 0 && !t.connect(parent, h) {
				parents = nil
				break
			}
		}
		rate := min(b.Rate, t.rate())
		if parents == nil {
			rate = 0
		}
		t.take(rate)
		for _, parent := range parents {
			if parent >= 0 {
				load[parent] += rate
			}
		}
		if rate > 0 {
			trees = append(trees, Tree{rate, parents})
		}
	}
	return trees
}

// maxSites is the number of sites that edmonds can plan for in a few seconds.
const maxSites = 64

// sites are the sites of a broadcast, the source's first.
type sites struct {
	*job
	members [][]int // the hosts of each, as chain has them
	of      []int   // the site of each node of the network, or -1
	buf     []int32 // of way
}

func newSites(j *job) *sites {
	s := &sites{job: j, of: slices.Repeat([]int{-1}, len(j.names))}
	numbers := make(map[string]int)
	for _, h := range j.sorted() {
		site := len(s.members)
		if c := j.hosts[j.at[h]].Cluster; c != "" { // each other host is a separate site
			name := proto.ClusterGroup(c, 1)
			if i, ok := numbers[name]; ok {
				site = i
			}
			numbers[name] = site
		}
		if site == len(s.members) {
			s.members = append(s.members, nil)
		}
		s.members[site] = append(s.members[site], h)
		s.of[j.at[h]] = site
	}
	for v := len(j.hosts); v < len(j.names); v++ {
		if i, ok := numbers[proto.ClusterGroup(j.names[v], 1)]; ok {
			s.of[v] = i
		} else {
			s.of[v] = s.around(int32(v))
		}
	}
	return s
}

// around returns the site that all hosts at a switch are of, or -1.
func (s *sites) around(v int32) int {
	site := -1
	for _, l := range s.out[v] {
		to := s.limits[l].to
		if !s.isHost(to) || s.of[to] < 0 {
			continue
		}
		if site >= 0 && site != s.of[to] {
			return -1
		}
		site = s.of[to]
	}
	return site
}

// trees returns the trees of fpfr over sites.
func (s *sites) trees() ([]Tree, error) {
	j := *s.job
	j.at = nil
	for _, hosts := range s.members {
		j.at = append(j.at, s.at[hosts[0]])
	}
	t := newTracer(&j)
	for l := range t.room {
		if !s.shared(int32(l)) {
			t.room[l] = math.Inf(1)
		}
	}
	return t.trees(false)
}

// way returns the limits between two sites that are the same for all of their hosts.
func (s *sites) way(a, b int) ([]int32, bool) {
	limits, ok := s.job.way(s.members[a][0], s.members[b][0])
	s.buf = s.buf[:0]
	for _, l := range limits {
		if s.shared(l) {
			s.buf = append(s.buf, l)
		}
	}
	return s.buf, ok
}

// shared reports whether all hosts of a site go through a limit: it is not within a site, nor at
// one of several hosts.
func (s *sites) shared(l int32) bool {
	from, to := s.limits[l].from, s.limits[l].to
	for _, v := range []int32{from, to} {
		if v >= 0 && s.isHost(v) {
			return s.of[v] >= 0 && len(s.members[s.of[v]]) == 1
		}
	}
	return s.of[from] < 0 || s.of[from] != s.of[to]
}

// expand makes a tree over hosts of the i-th tree over sites. load is what hosts send in the trees
// before it.
func (s *sites) expand(t Tree, i int, load []float64) []int {
	load = slices.Clone(load)
	parents := slices.Repeat([]int{-1}, len(s.at))
	chains := make([][]int, len(s.members))
	for site := range s.members {
		chains[site] = s.chainIn(site, i)
		for k, h := range chains[site][1:] {
			parents[h] = chains[site][k]
			load[chains[site][k]] += t.Rate
		}
	}
	for site, parent := range t.Parents {
		if parent < 0 {
			continue
		}
		sender := slices.MinFunc(chains[parent], func(a, b int) int {
			x, y := s.spare(a, load), s.spare(b, load)
			return cmp.Or(cmp.Compare(y, x), cmp.Compare(load[a], load[b]))
		})
		parents[chains[site][0]] = sender
		load[sender] += t.Rate
	}
	return parents
}

// spare returns the unused send rate of a host.
func (s *sites) spare(h int, load []float64) float64 {
	if l := s.send[s.at[h]]; l >= 0 {
		return s.limits[l].rate - load[h]
	}
	return math.Inf(1)
}

// chainIn returns the hosts of a site in the order in which the i-th tree goes through them: the
// racks in turn, and the hosts of each, starting with other hosts each time. The source is the first of its site.
func (s *sites) chainIn(site, i int) []int {
	hosts := s.members[site]
	var racks [][]int
	for begin := 0; begin < len(hosts); {
		end := begin + 1
		for end < len(hosts) && s.hosts[s.at[hosts[end]]].Cluster == s.hosts[s.at[hosts[begin]]].Cluster {
			end++
		}
		racks = append(racks, turn(hosts[begin:end], i))
		begin = end
	}
	if site != 0 {
		return slices.Concat(turn(racks, i)...)
	}
	k := slices.Index(racks[0], 0)
	rest := slices.Delete(slices.Clone(racks[0]), k, k+1)
	return slices.Concat([]int{0}, rest, slices.Concat(turn(racks[1:], i)...))
}

// turn returns a list that begins with its i-th item, counted around.
func turn[T any](list []T, i int) []T {
	if len(list) == 0 {
		return nil
	}
	i %= len(list)
	return slices.Concat(list[i:], list[:i])
}
