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
// with the same rate both ways, each host gets its min-cut. Slow hosts of a switch come last.
func stable(j *job) ([]Tree, error) {
	t := newTracer(j)
	t.slowLast()
	return t.trees(true)
}

// fpfr is Fast Parallel File Replication (Izmailov et al., 2004): the same, with the trees that
// have all hosts only, and with hosts in the order of the topology.
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
	// hostLinks are the links from each node to hosts, in the order of the search.
	hostLinks [][]int32

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
	t.hostLinks = make([][]int32, len(j.names))
	for v, links := range j.out {
		for _, l := range links {
			if t.isHost(t.limits[l].to) {
				t.hostLinks[v] = append(t.hostLinks[v], l)
			}
		}
	}
	return t
}

// slowLast has the search visit the slow hosts of a switch after the other ones, at the end of the pipeline: a host after a slow
// one would wait for the blocks that fill its interface.
func (t *tracer) slowLast() {
	for v, links := range t.hostLinks {
		t.hostLinks[v] = widestFirst(links, t.relayRate)
	}
}

// relayRate is the rate at which the host that a link leads to can relay.
func (t *tracer) relayRate(l int32) float64 {
	h := t.limits[l].to
	rate := min(t.limits[l].rate, t.limits[l^1].rate)
	for _, i := range []int32{t.receive[h], t.send[h]} {
		if i >= 0 {
			rate = min(rate, t.limits[i].rate)
		}
	}
	return rate
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
	for _, l := range t.hostLinks[at] {
		if t.open(l) {
			t.visit(t.limits[l].to)
		}
	}
	links := t.out[at]
	if !t.tree {
		links = widestFirst(links, func(l int32) float64 { return t.room[l] })
	}
	for _, l := range links {
		if to := t.limits[l].to; !t.isHost(to) && t.open(l) {
			t.visit(to)
		}
	}
}

// widestFirst returns links by their rates, the highest first. Links that differ by less than a
// thousandth keep their order: which byte a rate was rounded to must not decide where a tree goes.
func widestFirst(links []int32, rate func(int32) float64) []int32 {
	sorted := slices.Clone(links)
	slices.SortFunc(sorted, func(a, b int32) int { return cmp.Compare(rate(b), rate(a)) })
	for rest := sorted; len(rest) > 0; {
		n := 1
		for n < len(rest) && rate(rest[n]) >= 0.999*rate(rest[0]) {
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
	if !ok || slices.ContainsFunc(limits, func(l int32) bool { return t.room[l] == 0 }) {
		return false
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
