package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// PlanCase is planners with links of a model, and a number of destinations.
type PlanCase struct {
	Model        string       `json:"model"`
	Symmetric    bool         `json:"symmetric"`
	Destinations int          `json:"destinations"`
	Results      []PlanResult `json:"results"`
}

// PlanResult is the runs of one planner. Rates are in bytes per second.
type PlanResult struct {
	Algorithm string `json:"algorithm"`
	// Relative has for each run the sum of the rates of all destinations, divided by the sum of flat.
	// Mean is their mean.
	Relative []float64 `json:"relative_to_flat"`
	Mean     float64   `json:"mean_relative_to_flat"`
	// OfCuts is the sum of the rates of all runs, divided by the sum of the min-cuts.
	OfCuts float64 `json:"of_min_cuts"`
	// Lowest, Median and Highest are of the rates of all destinations of all runs.
	Lowest  float64 `json:"lowest_rate"`
	Median  float64 `json:"median_rate"`
	Highest float64 `json:"highest_rate"`
	// PlanningSeconds is the median of the runs. It does not include finding the routes.
	PlanningSeconds float64 `json:"planning_seconds"`

	rates, times []float64
	cuts         float64
}

// NewPlanCase makes a case without runs.
func NewPlanCase(model string, symmetric bool, destinations int, algorithms []string) *PlanCase {
	c := &PlanCase{Model: model, Symmetric: symmetric, Destinations: destinations}
	for _, a := range algorithms {
		c.Results = append(c.Results, PlanResult{Algorithm: a})
	}
	return c
}

// Run plans once with each algorithm, over the same links from the same source to the same
// destinations, and adds the results. Cases with the same seed have the same links if they
// are of one model, and destinations of the smaller case are also some of the larger's. Planners cannot be stopped.
func (c *PlanCase) Run(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0x706c616e))
	n, err := plan.NewNetwork(drawPlanTopology(c.Model, c.Symmetric, rng))
	if err != nil {
		return err
	}
	var hosts []string
	for _, h := range rng.Perm(PlanNodes)[:c.Destinations+1] {
		hosts = append(hosts, fmt.Sprint("n", h))
	}
	flat, _, err := plannedRates(n, "flat", hosts, seed)
	if err != nil {
		return err
	}
	cuts, err := n.Cuts(hosts[0])
	if err != nil {
		return err
	}
	least := 0.0
	for _, name := range hosts[1:] {
		var h int
		if _, err := fmt.Sscanf(name, "n%d", &h); err != nil {
			return err
		}
		least += cuts[h].Rate
	}
	for i := range c.Results {
		r := &c.Results[i]
		rates, took, err := plannedRates(n, r.Algorithm, hosts, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Algorithm, err)
		}
		r.add(rates, sum(rates)/sum(flat), least, took)
	}
	return nil
}

// plannedRates plans a broadcast from the first of the hosts to the other ones, and returns what these
// get, and how long planning took.
func plannedRates(n *plan.Network, algorithm string, hosts []string, seed uint64) ([]float64, time.Duration, error) {
	began := time.Now()
	p, err := n.Plan(algorithm, hosts[0], hosts[1:], seed)
	took := time.Since(began)
	if err != nil {
		return nil, 0, err
	}
	rates, err := n.Rates(algorithm, p)
	return rates[1:], took, err
}

// add adds a run.
func (r *PlanResult) add(rates []float64, relative, cuts float64, took time.Duration) {
	r.Relative = append(r.Relative, relative)
	r.Mean = sum(r.Relative) / float64(len(r.Relative))
	r.rates = append(r.rates, rates...)
	r.cuts += cuts
	r.OfCuts = sum(r.rates) / r.cuts
	slices.Sort(r.rates)
	r.Lowest, r.Median, r.Highest = r.rates[0], r.rates[len(r.rates)/2], r.rates[len(r.rates)-1]
	r.times = append(r.times, took.Seconds())
	slices.Sort(r.times)
	r.PlanningSeconds = r.times[len(r.times)/2]
}

func sum(all []float64) (s float64) {
	for _, v := range all {
		s += v
	}
	return s
}
