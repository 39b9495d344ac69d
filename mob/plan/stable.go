package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// stable is the algorithm of Takahashi et al., A stable broadcast algorithm, 2008, algorithm 1:
// it traces all hosts depth first, takes the rate of the narrowest link from all links that it
// came through, and continues with the hosts that can still be reached. If the links are a tree,
// with the same rate both ways, each host gets its min-cut.
func stable(j *job) ([]Tree, error) { return newTracer(j).trees(true) }

// fpfr is Fast Parallel File Replication (Izmailov et al., 2004): the same, with the trees that
// have all hosts only.
func fpfr(j *job) ([]Tree, error) { return newTracer(j).trees(false) }

// maxParents bounds the parents in all trees of a plan.
const maxParents = 1 << 22

// trees traces trees until there is none, or until a plan may have no more. A tree without a limit is left out.
func (t *tracer) trees(partial bool) (all []Tree, err error) {
	for len(all) < proto.MaxPlanTrees && len(all)*len(t.at) < maxParents {
		parents, reached := t.trace()
		rate := t.rate()
		if reached == 0 || !partial && reached < len(t.at)-1 || math.IsInf(rate, 1) {
			break
		}
		t.take(rate)
		all = append(all, Tree{rate, parents})
	}
	if all == nil {
		err = errUnlimited
	}
	return all, err
}

// tracer traces hosts in what is left of the links.
type tracer struct {
	*job
	room []float64 // what is left of each limit
	in   []bool    // the hosts of the last tree
	host []int     // of each node of the network: its number in the broadcast, or -1

	// Of one tree.
	used    []int32 // the limits that it goes through
	uses    []int32 // how often, for each limit
	seen    []bool  // the nodes that the depth first search has visited
	parents []int
	pipe    []int // the hosts that the next one may come from, the likeliest last
	missed  []int // hosts that none of those reached
	reached int
}

func newTracer(j *job) *tracer {
	t := &tracer{job: j, uses: make([]int32, len(j.limits))}
	for _, l := range j.limits {
		t.room = append(t.room, l.rate)
	}
	t.host = slices.Repeat([]int{-1}, len(j.names))
	for h, at := range j.at {
		t.host[at] = h
	}
	t.in = slices.Repeat([]bool{true}, len(j.at))
	t.parents = make([]int, len(j.at))
	return t
}

// trace makes a tree of the hosts of the last one that can still be reached, as a pipeline where
// it can. It returns the number of hosts that it reached, without the source.
func (t *tracer) trace() (parents []int, reached int) {
	t.seen = make([]bool, len(t.names))
	t.parents = slices.Repeat([]int{-1}, len(t.at))
	t.pipe, t.missed, t.reached = append(t.pipe[:0], 0), t.missed[:0], 0
	t.visit(t.at[0])
	for again := len(t.missed) > 0; again; {
		again = false
		t.missed = slices.DeleteFunc(t.missed, func(h int) bool {
			found := t.adopt(h)
			again = again || found
			return found
		})
	}
	for h := range t.in {
		t.in[h] = h == 0 || t.parents[h] >= 0
	}
	return t.parents, t.reached
}

// visit searches depth first from a node: to hosts first, then through the widest links.
func (t *tracer) visit(at int32) {
	t.seen[at] = true
	host := t.host[at]
	if t.isHost(at) {
		if host < 0 || !t.in[host] {
			return
		}
		if host > 0 {
			t.reach(host)
		}
		if t.access[at] >= 0 && host > 0 || t.full(t.send[at]) {
			return
		}
	}
	links := t.out[at]
	for _, l := range links {
		if to := t.limits[l].to; t.isHost(to) && t.open(l) {
			t.visit(to)
		}
	}
	if !t.tree {
		links = t.widestFirst(links)
	}
	for _, l := range links {
		if to := t.limits[l].to; !t.isHost(to) && t.open(l) {
			t.visit(to)
		}
	}
}

// widestFirst returns links by what is left of them, the widest first. Those that differ by less than a
// thousandth keep their order: which byte a rate was rounded to must not decide where a tree goes.
func (t *tracer) widestFirst(links []int32) []int32 {
	sorted := slices.Clone(links)
	slices.SortFunc(sorted, func(a, b int32) int { return cmp.Compare(t.room[b], t.room[a]) })
	for rest := sorted; len(rest) > 0; {
		n := 1
		for n < len(rest) && t.room[rest[n]] >= 0.999*t.room[rest[0]] {
			n++
		}
		slices.Sort(rest[:n])
		rest = rest[n:]
	}
	return sorted
}

// open reports whether the search may go through a link.
func (t *tracer) open(l int32) bool {
	to := t.limits[l].to
	return !t.seen[to] && t.room[l] > 0 && !(t.isHost(to) && t.full(t.receive[to]))
}

func (t *tracer) full(l int32) bool { return l >= 0 && t.room[l] == 0 }

// reach finds a parent for a host: the last of the pipeline that has a way with room.
// In a tree, the hosts behind it have no way out any more.
func (t *tracer) reach(h int) {
	for k := len(t.pipe) - 1; k >= 0; k-- {
		if t.connect(t.pipe[k], h) {
			t.pipe = append(t.pipe[:k+1], h)
			return
		}
	}
	t.missed = append(t.missed, h)
}

// adopt finds a parent for a host that was missed, among all in the tree.
func (t *tracer) adopt(h int) bool {
	for p := len(t.at) - 1; p >= 0; p-- {
		if (p == 0 || t.parents[p] >= 0) && t.connect(p, h) {
			return true
		}
	}
	return false
}

// connect makes a host the parent of another if there is room on the way.
func (t *tracer) connect(parent, h int) bool {
	limits, ok := t.way(parent, h)
	if !ok {
		return false
	}
	for _, l := range limits {
		if t.room[l] == 0 {
			return false
		}
	}
	for _, l := range limits {
		if t.uses[l] == 0 {
			t.used = append(t.used, l)
		}
		t.uses[l]++
	}
	t.parents[h] = parent
	t.reached++
	return true
}

// rate is the highest that the tree can have: the rate of its narrowest link.
func (t *tracer) rate() float64 {
	rate := math.Inf(1)
	for _, l := range t.used {
		rate = min(rate, t.room[l]/float64(t.uses[l]))
	}
	return rate
}

// take takes a rate from what the tree goes through, and makes ready for the next tree.
func (t *tracer) take(rate float64) {
	for _, l := range t.used {
		t.room[l] = rest(t.room[l], rate*float64(t.uses[l]), t.limits[l].rate)
		t.uses[l] = 0
	}
	t.used = t.used[:0]
}
