package bench

import (
	"fmt"
	"io"
	"slices"
)

// WriteTable writes a row for each system and a column for each scenario, with remarks below it. A
// single scenario has a column for each measurement.
func (s Scenarios) WriteTable(out io.Writer) error {
	if len(s) == 1 {
		return s[0].writeTable(out)
	}
	figures := "MB/s, share of the bound, last node"
	if s.repeated() {
		figures += "; medians"
	}
	fmt.Fprintf(out, "%s: %s\n", s[0].grid(), figures)
	t := newTable(out, s.cells("system", func(r *Report) string { return r.Scenario })...)
	t.row(s.cells("bound", func(r *Report) string {
		if r.Bound == 0 {
			return "-"
		}
		return fmt.Sprintf("%s, 1.00, %.1f s", figure(r.Bound/1e6), r.Ideal)
	})...)
	for _, system := range s.systems() {
		t.row(s.cells(system, func(r *Report) string { return r.Result(system).cell() })...)
	}
	if err := t.w.Flush(); err != nil {
		return err
	}
	for _, line := range s.remarks() {
		fmt.Fprintln(out, line)
	}
	return nil
}

// repeated reports whether a system has several runs of a scenario.
func (s Scenarios) repeated() bool {
	return slices.ContainsFunc(s, func(r *Report) bool {
		return slices.ContainsFunc(r.Results, func(res Result) bool { return len(res.Runs) > 1 })
	})
}

// cells returns a row with a cell for each scenario.
func (s Scenarios) cells(name string, cell func(r *Report) string) []string {
	row := []string{name}
	for _, r := range s {
		row = append(row, cell(r))
	}
	return row
}

// cell is a result in the table of all scenarios. Nil: the system did not run.
func (r *Result) cell() string {
	if r == nil {
		return "-"
	}
	if r.Median().Error != "" {
		return "failed"
	}
	return fmt.Sprintf("%s, %s, %.1f s", figure(r.Rate/1e6), orNone(r.Share, "%.2f"), r.Median().Last)
}

// remarks lists the lines below the table of all scenarios: the remarks of each report that are not about
// the course of a run.
func (s Scenarios) remarks() []string {
	var lines []string
	for _, r := range s {
		for _, res := range r.Results {
			for _, run := range res.Runs {
				if run.Error != "" {
					lines = append(lines, fmt.Sprintf("%s, %s failed: %s", r.Scenario, res.System, oneLine(run.Error)))
				} else if run.Intact < run.Copied {
					lines = append(lines, fmt.Sprintf("%s, %s: %s copies are intact", r.Scenario, res.System, run.intact()))
				}
			}
		}
		for _, l := range r.LeftOut {
			lines = append(lines, fmt.Sprintf("%s, left out: %s: %s", r.Scenario, l.System, l.Why))
		}
	}
	return lines
}
