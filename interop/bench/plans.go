package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/mobgrid/mob/mob/plan"
)

// PlanCase is planners with links of a model, and a number of destinations.
type PlanCase struct {
	Model        string       `json:"model"`
	Symmetric    bool         `json:"symmetric"`
	Destinations int          `json:"destinations"`
	Results      []PlanResult `json:"results"`
}

// PlanResult is the runs of one planner.
type PlanResult struct {
	Algorithm string `json:"algorithm"`
	// Relative has for each run the sum of the rates of all destinations, divided by the sum of flat.
	// Mean is their mean.
	Relative []float64 `json:"relative_to_flat"`
	Mean     float64   `json:"mean_relative_to_flat"`
	// OfCuts is the sum of the rates of all runs, divided by the sum of the min-cuts.
	OfCuts float64 `json:"of_min_cuts"`

	rates, cuts float64 // these sums
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
	chosen := rng.Perm(PlanNodes)[:c.Destinations+1]
	var hosts []string
	for _, h := range chosen {
		hosts = append(hosts, fmt.Sprint("n", h))
	}
	flat, err := sumOfRates(n, "flat", hosts, seed)
	if err != nil {
		return err
	}
	all, err := n.Cuts(hosts[0])
	if err != nil {
		return err
	}
	cuts := 0.0
	for _, h := range chosen[1:] {
		cuts += all[h].Rate
	}
	for i := range c.Results {
		r := &c.Results[i]
		rate, err := sumOfRates(n, r.Algorithm, hosts, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Algorithm, err)
		}
		r.Relative = append(r.Relative, rate/flat)
		r.Mean = sum(r.Relative) / float64(len(r.Relative))
		r.rates, r.cuts = r.rates+rate, r.cuts+cuts
		r.OfCuts = r.rates / r.cuts
	}
	return nil
}

// sumOfRates plans a broadcast from the first of the hosts to the other ones, and returns the sum of what these
// get.
func sumOfRates(n *plan.Network, algorithm string, hosts []string, seed uint64) (float64, error) {
	p, err := n.Plan(algorithm, hosts[0], hosts[1:], seed)
	if err != nil {
		return 0, err
	}
	rates, err := n.Rates(algorithm, p)
	return sum(rates), err
}

func sum(all []float64) (s float64) {
	for _, v := range all {
		s += v
	}
	return s
}
