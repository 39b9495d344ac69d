package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ReadReports reads reports as JSON, one after the other.
func ReadReports(in io.Reader) ([]*Report, error) {
	var all []*Report
	for d := json.NewDecoder(in); ; {
		r := new(Report)
		err := d.Decode(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.check()
		}
		if err != nil {
			return nil, fmt.Errorf("it is not what \"mob-bench grid --json\" writes: %w", err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, errors.New("it is empty: the run that writes it has failed, or continues; leave it out or run it again")
	}
	return all, nil
}

// check returns an error for a report that has no runs to show.
func (r *Report) check() error {
	if r.Case == "" || r.Scenario == "" || r.Bytes < 1 || len(r.Clusters) == 0 || len(r.Results) == 0 {
		return errors.New("no report with a case, clusters and results")
	}
	for _, res := range r.Results {
		if res.System == "" || len(res.Runs) == 0 || slices.Contains(res.Runs, nil) {
			return errors.New("a result without a system or runs")
		}
	}
	return nil
}

// Result finds the result of a system, or returns nil.
func (r *Report) Result(system string) *Result {
	i := slices.IndexFunc(r.Results, func(res Result) bool { return res.System == system })
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}
