package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// WriteTable writes a row for each system and a column for each scenario, with remarks below it.
// Of a single scenario it writes the table of [Report.WriteTable].
func (s Scenarios) WriteTable(out io.Writer) error {
	if len(s) == 1 {
		return s[0].WriteTable(out)
	}
	figures := "MB/s, share of the bound, last node"
	if s.repeated() {
		figures += "; medians"
	}
	fmt.Fprintf(out, "%s: %s\n", s[0].grid(), figures)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	s.writeRow(w, "system", func(r *Report) string { return r.Scenario })
	s.writeRow(w, "bound", func(r *Report) string {
		if r.Bound == 0 {
			return "-"
		}
		return fmt.Sprintf("%s, 1.00, %.1f s", figure(r.Bound/1e6), r.Ideal)
	})
	for _, system := range s.systems() {
		s.writeRow(w, system, func(r *Report) string { return r.result(system).cell() })
	}
	if err := w.Flush(); err != nil {
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

func (s Scenarios) writeRow(w io.Writer, name string, cell func(r *Report) string) {
	fmt.Fprintf(w, "%s\t", name)
	for _, r := range s {
		fmt.Fprintf(w, "%s\t", cell(r))
	}
	fmt.Fprintln(w)
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

// remarks lists the lines below the table of all scenarios: those of each report that are not about
// how a run went.
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
