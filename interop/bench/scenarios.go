package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Scenarios is the reports of a comparison: one for each scenario, of the same grid and content.
type Scenarios []*Report

// ReadScenarios reads scenarios that [WriteJSON] has written.
func ReadScenarios(in io.Reader) (Scenarios, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, errors.New("it is empty: the run that was to write it has failed, or goes on; leave it out or run it again")
	}
	if text[0] != '[' {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	var all Scenarios
	err = json.Unmarshal(text, &all)
	if err == nil && len(all) == 0 {
		err = errors.New("no report")
	}
	for _, r := range all {
		if err == nil {
			err = r.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("it is not what \"mob-bench grid --json\" writes: %w", err)
	}
	return all, nil
}

// check returns an error for a report that has no runs to show.
func (r *Report) check() error {
	if r == nil || r.Case == "" || r.Scenario == "" || r.Bytes < 1 || len(r.Clusters) == 0 || len(r.Results) == 0 {
		return errors.New("no report with a case, clusters and results")
	}
	for _, res := range r.Results {
		if res.System == "" || len(res.Runs) == 0 || slices.Contains(res.Runs, nil) {
			return errors.New("a result without a system or runs")
		}
	}
	return nil
}

// Add adds a report. Its runs join those of the same scenario and system. A report of another grid
// or content is an error, and so is one whose scenario has other links.
func (s *Scenarios) Add(r *Report) error {
	for _, other := range *s {
		if r.grid() != other.grid() {
			return fmt.Errorf("%s, unlike %s: give runs of one grid and size", r.grid(), other.grid())
		}
	}
	i := slices.IndexFunc(*s, func(other *Report) bool { return other.Scenario == r.Scenario })
	if i < 0 {
		*s = append(*s, r)
		slices.SortStableFunc(*s, func(a, b *Report) int { return scenarioOrder(a) - scenarioOrder(b) })
		return nil
	}
	same := (*s)[i]
	if same.Bound != r.Bound || same.TCPShare != r.TCPShare {
		return fmt.Errorf("%s with a bound of %s MB/s, unlike %s MB/s: give runs with the same links and seed",
			r.Scenario, figure(r.Bound/1e6), figure(same.Bound/1e6))
	}
	for _, res := range r.Results {
		for _, run := range res.Runs {
			same.Add(res.System, run)
		}
	}
	same.LeftOut = append(same.LeftOut, r.LeftOut...)
	return nil
}

// grid describes the grid and the content, without the scenario.
func (r *Report) grid() string {
	return strings.Replace(r.Case, ", "+r.Scenario, "", 1) + ", " + megabytes(float64(r.Bytes))
}

// scenarioOrder sorts scenarios as ScenarioNames lists them.
func scenarioOrder(r *Report) int { return slices.Index(ScenarioNames(), r.Scenario) }

// systems lists the systems of all reports, in the order of their first runs.
func (s Scenarios) systems() []string {
	var names []string
	for _, r := range s {
		for _, res := range r.Results {
			if !slices.Contains(names, res.System) {
				names = append(names, res.System)
			}
		}
	}
	return names
}

// result finds the result of a system, or returns nil.
func (r *Report) result(system string) *Result {
	i := slices.IndexFunc(r.Results, func(res Result) bool { return res.System == system })
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}
