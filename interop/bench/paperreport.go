package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const paperHead = `# mob and five papers

A row compares a ratio of two rates, measured on this machine, with the same ratio in a paper. It is not compared if the
machine's cores were more than %.0f %% busy. Scaled cases run with rates and sizes divided by %g; they are not compared if the share
of the bound or the copies of the calibration differ from full speed by more than %.2f.

%s, %s, commit %s: ` + "`%s`" + `

## Calibration

| Case | Of the bound | Copies | CPU | Load |
|---|---|---|---|---|
`

// Write writes report.md and a picture of each figure into a directory.
func (r *PaperReport) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var text strings.Builder
	m := NewMade()
	fmt.Fprintf(&text, paperHead, 100*mostCPU, r.Scale, calibrationSpread, m.Date, m.Machine, m.Commit, m.Command)
	for _, c := range Calibration() {
		if report := r.Results[c.Name]; report != nil && report.Result("mob") != nil {
			res := report.Result("mob")
			run := res.Median()
			fmt.Fprintf(&text, "| %s | %.3f | %.2f | %.0f %% | %s |\n", c.Name, res.Share, report.MostCopies(run), 100*run.Machine, report.Made.Load)
		}
	}
	var rows []compared
	_, all := PaperTable()
	for _, row := range all {
		if slices.Contains(r.Papers, row.Paper) {
			rows = append(rows, r.compare(row))
		}
	}
	writeDifferences(&text, rows)
	var errs []error
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(c compared) bool { return c.Figure != rows[0].Figure || c.Paper != rows[0].Paper })
		if n < 0 {
			n = len(rows)
		}
		errs = append(errs, writeFigure(&text, dir, rows[:n]))
		rows = rows[n:]
	}
	return errors.Join(append(errs, os.WriteFile(filepath.Join(dir, "report.md"), []byte(text.String()), 0o644))...)
}

// writeDifferences lists what differs from the papers, and where swarms become faster than pushes.
func writeDifferences(w io.Writer, rows []compared) {
	fmt.Fprint(w, "\n## What differs\n\n")
	for _, c := range rows {
		if c.Differs {
			fmt.Fprintf(w, "- %s, figure %s, %s, %s: %.3g. %s\n", c.Paper, c.Figure, c.Group, c.Series, c.Here, c.Verdict)
		}
	}
	fmt.Fprintf(w, "\nMessages from which mob is faster than MagPIe (close to 512 kB at 40 ms and around 32 MB at 100 ms in the paper): "+
		"%s at 40 ms; %s at 100 ms.\n", crossover(rows, "40ms"), crossover(rows, "100ms"))
}

// crossover describes where the ratios of messages, which are in the order of sizes, exceed 1.
func crossover(rows []compared, rtt string) string {
	below, above, busy := "", "", ""
	for _, c := range rows {
		if c.Series == messageSeries(rtt) && c.CPU > mostCPU {
			busy = ", *CPU bound*"
		}
		switch {
		case c.Series != messageSeries(rtt) || c.Here == 0:
		case c.Here < 1 && above != "":
			return "**differs**: " + c.Group + " is slower again" + busy
		case c.Here < 1:
			below = c.Group
		case above == "":
			above = c.Group
		}
	}
	switch {
	case above == "" && below == "":
		return "not run"
	case above == "":
		return "**differs**: slower up to " + below + busy
	case below == "":
		return "**differs**: faster from " + above + " on" + busy
	}
	return "more than " + below + ", up to " + above + busy
}

// writeFigure writes the rows of a figure, and its picture.
func writeFigure(w io.Writer, dir string, rows []compared) error {
	c := chart{title: rows[0].Paper + ", figure " + rows[0].Figure}
	file := strings.Join(strings.FieldsFunc(rows[0].Paper+" "+rows[0].Figure, func(r rune) bool { return strings.ContainsRune(" ,", r) }), "-") + ".svg"
	fmt.Fprintf(w, "\n## %s\n\n![%s](%s)\n\n", c.title, c.title, file)
	fmt.Fprintln(w, "| Row | Paper | Here | Ratio | Outcome | Runs | Load | CPU | Source |\n|---|---|---|---|---|---|---|---|---|")
	for _, row := range rows {
		var b *bar
		if row.Here > 0 {
			b = &bar{row.Here, row.Published}
		}
		c.add(row.Group, row.Series, b)
		fmt.Fprintf(w, "| %s: %s | %s | %s | %s | %s | %d | %s | %s | %s |\n", row.Group, row.Series, orNone(row.Published, "%.3g"), orNone(row.Here, "%.3g"),
			orNone(row.Ratio, "%.2f"), row.Verdict, row.Runs, row.Load, orNone(100*row.CPU, "%.0f %%"), row.Source)
	}
	var svg strings.Builder
	return errors.Join(c.write(&svg), os.WriteFile(filepath.Join(dir, file), []byte(svg.String()), 0o644))
}
