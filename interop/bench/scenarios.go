package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Scenarios is the reports of a comparison: one for each scenario, of the same grid and content.
type Scenarios []*Report

// MarshalJSON writes a single scenario as its [Report].
func (s Scenarios) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return json.Marshal(s[0])
	}
	return json.Marshal([]*Report(s))
}

// ReadScenarios reads scenarios as JSON, one or more times.
func ReadScenarios(in io.Reader) (Scenarios, error) {
	var all Scenarios
	for d := json.NewDecoder(in); ; {
		read, err := readValue(d)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("it is not what \"mob-bench grid --json\" writes: %w", err)
		}
		all = append(all, read...)
	}
	if len(all) == 0 {
		return nil, errors.New("it is empty: the run that writes it has failed, or continues; leave it out or run it again")
	}
	return all, nil
}

// readValue reads a report or a list of reports.
func readValue(d *json.Decoder) (all Scenarios, err error) {
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if value[0] != '[' {
		value = slices.Concat([]byte("["), value, []byte("]"))
	}
	err = json.Unmarshal(value, &all)
	if err == nil && len(all) == 0 {
		err = errors.New("no report")
	}
	for _, r := range all {
		if err == nil {
			err = r.check()
		}
	}
	return all, err
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

// grid describes the grid and the content, without the scenario.
func (r *Report) grid() string {
	return strings.Replace(r.Case, ", "+r.Scenario, "", 1) + ", " + megabytes(float64(r.Bytes))
}

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

// Result finds the result of a system, or returns nil.
func (r *Report) Result(system string) *Result {
	i := slices.IndexFunc(r.Results, func(res Result) bool { return res.System == system })
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}
