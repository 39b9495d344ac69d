package plan

import "math"

// packing is a linear program: it finds the rates of trees with the greatest sum that no limit is
// exceeded by. Trees are added one by one, and what it has found stays a beginning (Dantzig's
// simplex algorithm, revised: it keeps the inverse of the basis, which gives the price of each
// limit: the gain per unit of a higher limit).
type packing struct {
	rows    map[int32]int // of limits
	limits  []int32       // the other way
	inverse [][]float64   // of the basis
	level   []float64     // of the variable that is basic in each row
	basic   []int         // which that is: a tree, or -1-row for what is left of a limit
	price   []float64     // of each row

	trees []column
	work  float64 // of all steps
}

// column is the use of each limit by a tree, per unit of its rate.
type column struct {
	rows []int
	uses []float64
}

func newPacking() *packing { return &packing{rows: make(map[int32]int)} }

// maxRows bounds the inverse of the basis, to some 72 MB.
const maxRows = 3000

// add adds a tree with its uses of limits, without a rate until solve finds it. With more limits than
// maxRows the tree is not added, and the program is at its work limit.
func (p *packing) add(uses []use, rate func(l int32) float64) (added bool) {
	before, fresh := len(p.limits), 0
	for _, u := range uses {
		if _, ok := p.rows[u.limit]; !ok {
			fresh++
		}
	}
	if before+fresh > maxRows {
		p.work = 2 * maxWork
		return false
	}
	c := column{}
	for _, u := range uses {
		row, ok := p.rows[u.limit]
		if !ok {
			row = len(p.limits)
			p.rows[u.limit] = row
			p.limits = append(p.limits, u.limit)
			p.level = append(p.level, rate(u.limit))
			p.basic = append(p.basic, -1-row)
			p.price = append(p.price, 0)
		}
		c.rows, c.uses = append(c.rows, row), append(c.uses, float64(u.times))
	}
	for i := range p.inverse {
		p.inverse[i] = append(p.inverse[i], make([]float64, len(p.limits)-before)...)
	}
	for i := before; i < len(p.limits); i++ {
		row := make([]float64, len(p.limits))
		row[i] = 1
		p.inverse = append(p.inverse, row)
	}
	p.trees = append(p.trees, c)
	return true
}

// use counts the passes of a tree through a limit.
type use struct {
	limit, times int32
}

// gain is the growth of the sum of all rates per unit of the rate of a tree.
func (p *packing) gain(c *column) float64 {
	g := 1.0
	for k, i := range c.rows {
		g -= p.price[i] * c.uses[k]
	}
	return g
}

// gainOf is the gain of a tree that has not been added.
func (p *packing) gainOf(uses []use) float64 {
	g := 1.0
	for _, u := range uses {
		if i, ok := p.rows[u.limit]; ok {
			g -= p.price[i] * float64(u.times)
		}
	}
	return g
}

// precision is by how much a variable must gain to be worth a step.
const precision = 1e-9

// maxWork bounds the number of values that all steps change, to some seconds of work.
const maxWork = 3e8

// atLimit reports whether the work limit is reached.
func (p *packing) atLimit() bool { return p.work > maxWork }

// solve goes from basis to basis until no variable gains, or until the work limit.
func (p *packing) solve() {
	for steps := 0; !p.atLimit(); steps++ {
		best, enter := precision, 0
		found := false
		better := func(gain float64, variable int) {
			// Bland's rule, to take the first that gains, ends; the greatest gain ends sooner, mostly.
			if gain > best && !(found && steps > 50*len(p.limits)) {
				best, enter, found = gain, variable, true
			}
		}
		for t := range p.trees {
			better(p.gain(&p.trees[t]), t)
		}
		for i, price := range p.price {
			better(-price, -1-i)
		}
		if !found || !p.step(enter, best) {
			return
		}
		p.work += float64(len(p.limits)) * float64(len(p.limits))
	}
}

// step makes a variable basic. It reports whether a limit bounds the variable.
func (p *packing) step(enter int, gain float64) bool {
	change := make([]float64, len(p.limits)) // of each level, by unit of the variable
	if enter < 0 {
		for i := range change {
			change[i] = p.inverse[i][-1-enter]
		}
	} else {
		c := &p.trees[enter]
		for i, row := range p.inverse {
			for k, r := range c.rows {
				change[i] += row[r] * c.uses[k]
			}
		}
	}
	out, least := -1, math.Inf(1)
	for i, d := range change {
		if d > precision {
			if at := p.level[i] / d; at < least || at == least && p.basic[i] < p.basic[out] {
				out, least = i, at
			}
		}
	}
	if out < 0 {
		return false
	}
	pivot := p.inverse[out]
	for k := range pivot {
		pivot[k] /= change[out]
		p.price[k] += gain * pivot[k]
	}
	for i, row := range p.inverse {
		if i != out && change[i] != 0 {
			p.level[i] = max(0, p.level[i]-change[i]*least)
			for k, v := range pivot {
				if v != 0 {
					row[k] -= change[i] * v
				}
			}
		}
	}
	p.level[out], p.basic[out] = least, enter
	return true
}

// rates returns the rate of each tree.
func (p *packing) rates() []float64 {
	rates := make([]float64, len(p.trees))
	for i, v := range p.basic {
		if v >= 0 {
			rates[v] = p.level[i]
		}
	}
	return rates
}

// sum returns the sum of the rates.
func (p *packing) sum() (all float64) {
	for _, r := range p.rates() {
		all += r
	}
	return all
}
