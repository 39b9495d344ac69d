package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ReadReports reads reports as JSON, one after the other or in lists.
func ReadReports(in io.Reader) ([]*Report, error) {
	var all []*Report
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
func readValue(d *json.Decoder) (all []*Report, err error) {
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

// Result finds the result of a system, or returns nil.
func (r *Report) Result(system string) *Result {
	i := slices.IndexFunc(r.Results, func(res Result) bool { return res.System == system })
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}
