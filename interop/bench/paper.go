package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// PaperCase is runs of mob-bench whose results the rows of a paper compare.
type PaperCase struct {
	// Paper is such as "mob", Name unique.
	Paper, Name string
	// Commands are commands of mob-bench with their flags: grid, sim, planners, or collective with an operation.
	Commands []string
	// WAN is the rate of every link between clusters in MB/s. Zero: the links of the scenario.
	WAN float64
	// Sum has the value of a system be the sum of the rates of all receivers, instead of the rate of the last one.
	Sum bool
	// Initial has plans made for the links as they are at the start.
	Initial bool
	// Scaled divides rates and size by --scale. Long is left out by --quick.
	Scaled, Long bool
}

// PaperRow compares the ratio of two rates with the ratio in a paper.
type PaperRow struct {
	// Paper and Figure are where the row is from, Group and Series its place in the picture of the figure.
	Paper, Figure, Group, Series string
	// Of and By are a case and a system of it, as in "fast/mob". Of several systems, as in "fast/mob|aria2", the one with
	// the highest rate counts. System "bound" is the bound of the case.
	Of, By string
	// Factor multiplies the ratio. Zero: 1.
	Factor float64
	// Published is the ratio in the paper, zero if its text gives none, and Tolerance the share by which it may differ. Zero: 0.1.
	Published, Tolerance float64
	// Least is the least ratio with which the order of the paper holds. Zero: none.
	Least float64
	// Source quotes what the paper says. Why is the reason why this differs, if it is known.
	Source, Why string
}

// PaperResult is the outcome of a case. Its maps have a key for each system.
type PaperResult struct {
	// Rates are in bytes per second, except that the unit of rounds is 1 by a round.
	Rates map[string]float64
	// CPU is the share of the machine's cores that were busy, and Copies the most copies that entered a cluster.
	CPU, Copies map[string]float64
	// Failed has the reasons of systems without a rate. The key "" is for all.
	Failed map[string]string
	Runs   int
	Load   string
	Scaled bool
}

// NewPaperResult makes a result without rates.
func NewPaperResult() *PaperResult {
	return &PaperResult{Rates: map[string]float64{}, CPU: map[string]float64{}, Copies: map[string]float64{}, Failed: map[string]string{}}
}

// AddReport adds the median runs of a report.
func (p *PaperResult) AddReport(r *Report, sum bool) {
	if r.Bound > 0 {
		p.Rates[boundSystem] = r.Bound
	}
	for _, l := range r.LeftOut {
		p.Failed[l.System] = l.Why
	}
	for i := range r.Results {
		res := &r.Results[i]
		run := res.Median()
		p.Runs = max(p.Runs, len(res.Runs))
		p.CPU[res.System], p.Copies[res.System] = run.Machine, r.MostCopies(run)
		switch {
		case run.Error != "":
			p.Failed[res.System] = oneLine(run.Error)
		case sum:
			p.Rates[res.System] = float64(r.Bytes) * run.sumOfRates()
		default:
			p.Rates[res.System] = run.Rate
		}
	}
}

// sumOfRates returns the sum of the reciprocal times of all receivers that the run waited for.
func (r *Run) sumOfRates() (sum float64) {
	for name, at := range r.Finished {
		if !slices.Contains(r.Slow, name) && !slices.Contains(r.Killed, name) {
			sum += 1 / at
		}
	}
	return sum
}

// AddRounds adds rounds, with systems such as "permutation 20".
func (p *PaperResult) AddRounds(r *RoundReport) {
	for _, c := range r.Cases {
		p.Rates[fmt.Sprintf("%s %d", c.Strategy, c.Nodes)] = 1 / float64(c.Median)
		p.Rates[fmt.Sprintf("%s %d", boundSystem, c.Nodes)] = 1 / float64(c.Limit)
		p.Runs = len(c.Rounds)
	}
}

// AddPlans adds planners, with systems such as "stable mixed 399".
func (p *PaperResult) AddPlans(r *PlanReport) {
	for _, c := range r.Cases {
		for _, res := range c.Results {
			p.Rates[fmt.Sprintf("%s %s %d", res.Algorithm, c.links(), c.Destinations)] = res.Mean
			p.Runs = len(res.Relative)
		}
	}
}

// boundSystem is the name of the bound among the systems of a result.
const boundSystem = "bound"

// rate returns the rate of Of or By, and the highest share of CPU. An empty reason means that there is a rate.
func (r *PaperReport) rate(key string) (rate, cpu float64, result *PaperResult, reason string) {
	name, systems, _ := strings.Cut(key, "/")
	result = r.Results[name]
	if result == nil {
		return 0, 0, nil, "not run"
	}
	for _, system := range strings.Split(systems, "|") {
		rate, cpu = max(rate, result.Rates[system]), max(cpu, result.CPU[system])
		reason = cmp.Or(reason, result.Failed[system], result.Failed[""])
	}
	if rate > 0 {
		return rate, cpu, result, ""
	}
	return 0, cpu, result, cmp.Or(reason, "no result")
}

// mostCPU is the share of CPU above which a run compares nothing, and calibrationSpread the most by which the share of
// the bound and the copies of the scaled calibration may differ.
const (
	mostCPU           = 0.85
	calibrationSpread = 0.05
)

// compared is a row with its outcome.
type compared struct {
	*PaperRow
	// Here is the ratio here, zero if there is none. Ratio is Here by Published, zero if they are not compared.
	Here, Ratio float64
	// Verdict is such as "agrees", or a reason. Differs marks what holds in the paper and not here.
	Verdict string
	Differs bool
	CPU     float64
	Runs    int
	Load    string
}

// compare evaluates a row.
func (r *PaperReport) compare(row *PaperRow) compared {
	c := compared{PaperRow: row}
	of, ofCPU, a, why := r.rate(row.Of)
	by, byCPU, b, whyBy := r.rate(row.By)
	if why = cmp.Or(why, whyBy); why != "" {
		c.Verdict = why
		return c
	}
	c.Here = of / by * cmp.Or(row.Factor, 1)
	c.CPU, c.Runs, c.Load = max(ofCPU, byCPU), min(a.Runs, b.Runs), cmp.Or(a.Load, b.Load)
	switch {
	case c.CPU > mostCPU:
		c.Verdict = "*CPU bound*, not compared"
		return c
	case (a.Scaled || b.Scaled) && !r.ScaleHolds():
		c.Verdict = "scaled, and the calibration differs: not compared"
		return c
	}
	var verdicts []string
	if row.Least > 0 {
		if c.Differs = c.Here < row.Least; c.Differs {
			verdicts = append(verdicts, fmt.Sprintf("order **differs**, at least %.3g expected", row.Least))
		} else {
			verdicts = append(verdicts, "order holds")
		}
	}
	if row.Published > 0 {
		c.Ratio = c.Here / row.Published
		if math.Abs(c.Ratio-1) <= cmp.Or(row.Tolerance, 0.1) {
			verdicts = append(verdicts, "agrees")
		} else {
			c.Differs = true
			verdicts = append(verdicts, "**differs**")
		}
	}
	c.Verdict = strings.Join(verdicts, "; ")
	if c.Differs {
		c.Verdict += ": " + cmp.Or(row.Why, "the reason is not known")
	}
	return c
}

// The cases of the calibration, which precede all other ones.
const (
	calibrationFull, calibrationScaled = "4x4 at full speed", "4x4 scaled"
	calibrationCommand                 = "grid --systems mob --scenario fast --size 240MB"
)

// ScaleHolds reports whether the scaled calibration has the share of the bound and the copies of full speed.
func (r *PaperReport) ScaleHolds() bool {
	shares, copies := [2]float64{}, [2]float64{}
	for i, name := range []string{calibrationFull, calibrationScaled} {
		res := r.Results[name]
		if res == nil || res.Rates["mob"] == 0 {
			return false
		}
		shares[i], copies[i] = res.Rates["mob"]/res.Rates[boundSystem], res.Copies["mob"]
	}
	return math.Abs(shares[0]-shares[1]) <= calibrationSpread && math.Abs(copies[0]-copies[1]) <= calibrationSpread
}
