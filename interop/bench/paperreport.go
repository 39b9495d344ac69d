package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// PaperReport is a comparison with papers.
type PaperReport struct {
	Made *Made
	// Papers are the papers that are compared, Scale the divisor of scaled cases.
	Papers []string
	Scale  float64
	Cases  []PaperCase
	// Results has the outcomes of cases by their names. Cases that have not run yet are missing.
	Results map[string]*PaperResult
}

const paperHead = `# mob and five papers

A row compares a ratio of two rates, measured on this machine, with the same ratio in a paper. A row is not compared if the
machine's cores were more than %.0f %% busy. Scaled cases run with rates and sizes divided by %g; they are not compared if the share of the
bound or the copies of the calibration differ from full speed by more than %.2f.

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
	fmt.Fprintf(&text, paperHead, 100*mostCPU, r.Scale, calibrationSpread, r.Made.Date, r.Made.Machine, r.Made.Commit, r.Made.Command)
	for _, c := range Calibration() {
		of, cpu, res, why := r.rate(c.Name + "/mob")
		if why != "" {
			fmt.Fprintf(&text, "| %s | %s | | | |\n", c.Name, why)
			continue
		}
		fmt.Fprintf(&text, "| %s | %.3f | %.2f | %.0f %% | %s |\n", c.Name, of/res.Rates[boundSystem], res.Copies["mob"], 100*cpu, res.Load)
	}
	rows := r.rows()
	r.writeOrders(&text, rows)
	for _, paper := range r.Papers {
		fmt.Fprintf(&text, "\n## %s\n", paper)
		for _, figure := range figures(rows, paper) {
			of := slices.DeleteFunc(slices.Clone(rows), func(c compared) bool { return c.Paper != paper || c.Figure != figure })
			if err := writeFigure(&text, dir, paper, figure, of); err != nil {
				return err
			}
		}
	}
	r.writeCases(&text)
	return os.WriteFile(filepath.Join(dir, "report.md"), []byte(text.String()), 0o644)
}

// rows evaluates the rows of all papers.
func (r *PaperReport) rows() (all []compared) {
	_, rows := PaperTable()
	for i := range rows {
		if slices.Contains(r.Papers, rows[i].Paper) {
			all = append(all, r.compare(&rows[i]))
		}
	}
	return all
}

// figures lists the figures of a paper.
func figures(rows []compared, paper string) (all []string) {
	for _, c := range rows {
		if c.Paper == paper && !slices.Contains(all, c.Figure) {
			all = append(all, c.Figure)
		}
	}
	return all
}

// writeOrders lists what differs from the papers, and where swarms become faster than pushes.
func (r *PaperReport) writeOrders(w io.Writer, rows []compared) {
	fmt.Fprint(w, "\n## What differs\n\n")
	none := true
	for _, c := range rows {
		if c.Differs {
			none = false
			fmt.Fprintf(w, "- %s, figure %s, %s, %s: %.3g. %s\n", c.Paper, c.Figure, c.Group, c.Series, c.Here, c.Verdict)
		}
	}
	if none {
		fmt.Fprintln(w, "None of the rows that were compared.")
	}
	if !slices.Contains(r.Papers, "mob") {
		return
	}
	fmt.Fprint(w, "\nSmall messages: the size from which mob is faster than MagPIe is close to 512 kB at 40 ms and around 32 MB at 100 ms in the paper.\n\n")
	for _, rtt := range []string{"40ms", "100ms"} {
		fmt.Fprintf(w, "- %s: %s\n", rtt, crossover(rows, messageSeries(rtt)))
	}
}

// crossover describes where the ratios of a series, which are in the order of sizes, exceed 1.
func crossover(rows []compared, series string) string {
	below, above, order := "", "", "as in the paper"
	for _, c := range rows {
		switch {
		case c.Series != series || c.Here == 0:
		case c.Here < 1 && above == "":
			below = c.Group
		case c.Here < 1:
			order = "**differs**: a larger message is slower again"
		case above == "":
			above = c.Group
		}
	}
	switch {
	case above == "" && below == "":
		return "not run"
	case above == "":
		return "**differs**: the push is faster up to " + below
	case below == "":
		return "**differs**: mob is faster from " + above + " on, the smallest message"
	}
	return fmt.Sprintf("between %s and %s, %s", below, above, order)
}

// writeFigure writes the table of a figure, and its picture if a row has a value.
func writeFigure(w io.Writer, dir, paper, name string, rows []compared) error {
	fmt.Fprintf(w, "\n### Figure %s\n\n", name)
	c := chart{title: paper + ", figure " + name}
	for _, row := range rows {
		if row.Here > 0 {
			c.add(row.Group, row.Series, &bar{row.Here, row.Published})
		}
	}
	if len(c.groups) > 0 {
		file := strings.Join(strings.FieldsFunc(paper+" "+name, func(r rune) bool { return strings.ContainsRune(" ,", r) }), "-") + ".svg"
		out, err := os.Create(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		defer out.Close()
		if err := c.write(out); err != nil {
			return err
		}
		fmt.Fprintf(w, "![%s](%s)\n\n", c.title, file)
	}
	fmt.Fprintln(w, "| Row | Paper | Here | Ratio | Outcome | Runs | Load | CPU | Source |\n|---|---|---|---|---|---|---|---|---|")
	for _, row := range rows {
		number := func(v float64) string { return orNone(v, "%.3g") }
		fmt.Fprintf(w, "| %s: %s | %s | %s | %s | %s | %d | %s | %s | %s |\n", row.Group, row.Series, number(row.Published), number(row.Here), number(row.Ratio),
			row.Verdict, row.Runs, row.Load, orNone(100*row.CPU, "%.0f %%"), row.Source)
	}
	return nil
}

// writeCases lists the commands of cases.
func (r *PaperReport) writeCases(w io.Writer) {
	fmt.Fprint(w, "\n## Commands\n\n| Case | Scaled | Commands |\n|---|---|---|\n")
	for _, c := range r.Cases {
		scaled := ""
		if c.Scaled {
			scaled = "yes"
		}
		fmt.Fprintf(w, "| %s | %s | `mob-bench %s` |\n", c.Name, scaled, strings.Join(c.Commands, "`, `mob-bench "))
	}
}
