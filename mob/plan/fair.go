package plan

import "math"

// Rates returns how much each host of a plan gets over this network, in bytes per second, in the
// order of the plan: 0 for the source, and +Inf where nothing limits it.
//
// Trees of algorithms that share out the links have the rates that the plan gives them. A plan of
// one tree of another algorithm sends as fast as it can: flows that meet at a link share it
// fairly (max-min), and no host forwards more than it gets.
func (n *Network) Rates(algorithm string, p *Plan) ([]float64, error) {
	a, err := findAlgorithm(algorithm)
	if err != nil {
		return nil, err
	}
	if a.paced {
		return p.Rates(), nil
	}
	j, err := n.newJob(p.Hosts[0], p.Hosts[1:], 0)
	if err != nil {
		return nil, err
	}
	return j.fair(p.Trees[0].Parents)
}

// fair returns the rate of each host if flows share links fairly. It raises all flows together. When a
// limit is full, the flows through it are fixed, and with them all flows that forward them.
func (j *job) fair(parents []int) ([]float64, error) {
	f := sharing{
		job: j, through: make([][]int32, len(j.limits)), flows: make([][]int32, len(parents)),
		frozen: make([]float64, len(j.limits)), active: make([]int, len(j.limits)),
		children: make([][]int32, len(parents)),
		rates:    make([]float64, len(parents)), done: make([]bool, len(parents)),
	}
	uses, err := j.uses(parents)
	if err != nil {
		return nil, err
	}
	for l, n := range uses {
		if n > 0 {
			f.active[l] = int(n)
			f.through[l] = make([]int32, 0, n)
		}
	}
	for h, parent := range parents {
		if parent < 0 {
			f.done[h] = true
			continue
		}
		f.rates[h] = math.Inf(1)
		f.children[parent] = append(f.children[parent], int32(h))
		limits, _ := j.way(parent, h)
		f.flows[h] = append([]int32(nil), limits...)
		for _, l := range limits {
			f.through[l] = append(f.through[l], int32(h))
		}
	}
	f.fill()
	return f.rates, nil
}

// sharing is the state of fair. A flow has the number of its receiving host.
type sharing struct {
	*job
	flows, through [][]int32 // the limits of each flow, and the flows through each limit
	children       [][]int32
	frozen         []float64 // by limit: the sum of the flows that are done
	active         []int     // by limit: the number of other flows
	rates          []float64
	done           []bool
}

// fill raises the flows until each is done: the next limit that is full stops the flows through it.
func (f *sharing) fill() {
	for {
		full, at := -1, math.Inf(1)
		for l, n := range f.active {
			if n > 0 && f.fullAt(l) < at {
				full, at = l, f.fullAt(l)
			}
		}
		if full < 0 {
			return
		}
		for _, h := range f.through[full] {
			f.stop(h, at)
		}
	}
}

// fullAt returns the rate of each flow at which a limit is full.
func (f *sharing) fullAt(l int) float64 {
	return max(0, f.limits[l].rate-f.frozen[l]) / float64(f.active[l])
}

// stop fixes the rate of a flow, and of the flows that forward it.
func (f *sharing) stop(h int32, rate float64) {
	for todo := []int32{h}; len(todo) > 0; {
		h, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if f.done[h] {
			continue
		}
		f.done[h], f.rates[h] = true, rate
		for _, l := range f.flows[h] {
			f.frozen[l] += rate
			f.active[l]--
		}
		todo = append(todo, f.children[h]...)
	}
}
