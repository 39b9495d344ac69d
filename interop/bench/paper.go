package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// PaperFigure is a figure or an experiment of a paper.
type PaperFigure struct {
	// Name begins with the paper's, as in "mob, figure 4".
	Name string
	// Tolerance is the accepted relative difference of ratios.
	Tolerance float64
	// Source has the words of the paper, and Why the known reason of differences.
	Source, Why string
	Rows        []PaperRow
}

// PaperCase is runs of mob-bench whose results rows compare. If the name has values in braces, there is a case for each of
// them, which replaces the asterisks of the command.
type PaperCase struct {
	// Name is unique. Command is a command of mob-bench: grid, sim, rounds, planners, or collective with an operation.
	Name, Command string
	// WAN is the rate of every link between clusters in MB/s. Zero: the links of the scenario.
	WAN float64
	// Sum makes the rate of a run the sum of the rates of all receivers, instead of the rate of the last one.
	Sum bool
	// Scaled divides rates and size by --scale.
	Scaled bool
	// Quick is the size with --quick, or "same". Empty: not with --quick.
	Quick string
}

// PaperRow compares the ratio of two rates with the ratio in the paper. Values in braces in Group are as in the name of a case.
type PaperRow struct {
	// Group and Series are its place in the picture.
	Group, Series string
	// Of and By are a case and a system, as in "fast/mob". Of several systems, as in "fast/mob|aria2", the fastest counts.
	// System "bound" is the bound of the case. By without a case has the case of Of.
	Of, By string
	// Published is the ratio in the paper, and Least the least ratio that keeps the order of the paper. Zero: none.
	Published, Least float64
}

// PaperFigures lists the figures of some papers.
func PaperFigures(papers ...string) (all []PaperFigure) {
	for _, f := range paperFigures() {
		if paper, _, _ := strings.Cut(f.Name, ","); slices.Contains(papers, paper) {
			f.Rows = eachValue(f.Rows, func(r *PaperRow) []*string { return []*string{&r.Group, &r.Of, &r.By} })
			all = append(all, f)
		}
	}
	return all
}

// PaperCases lists the calibration and the cases of the rows of some papers.
func PaperCases(papers ...string) (all []PaperCase) {
	var rows []PaperRow
	for _, f := range PaperFigures(papers...) {
		rows = append(rows, f.Rows...)
	}
	for _, c := range eachValue(paperCases(), func(c *PaperCase) []*string { return []*string{&c.Name, &c.Command} }) {
		if c.Name == fullSpeed || c.Name == scaledDown || slices.ContainsFunc(rows, func(r PaperRow) bool { return r.uses(&c) }) {
			all = append(all, c)
		}
	}
	return all
}

func (r *PaperRow) uses(c *PaperCase) bool {
	return strings.HasPrefix(r.Of, c.Name+"/") || strings.HasPrefix(r.By, c.Name+"/")
}

// eachValue repeats items for each of the values in braces in their first texts.
func eachValue[T any](items []T, texts func(*T) []*string) (all []T) {
	for _, item := range items {
		_, rest, _ := strings.Cut(*texts(&item)[0], "{")
		values, _, _ := strings.Cut(rest, "}")
		for value := range strings.SplitSeq(values, ",") {
			repeated := item
			for _, text := range texts(&repeated) {
				*text = strings.NewReplacer("{"+values+"}", value, "*", value).Replace(*text)
			}
			all = append(all, repeated)
		}
	}
	return all
}

// PaperReport is a comparison with papers.
type PaperReport struct {
	// Papers are the papers that are compared, Scale the divisor of scaled cases.
	Papers []string
	Scale  float64
	Cases  []PaperCase
	// Results has the outcomes of cases by their names. Cases that have not run yet are missing.
	Results map[string]*Report
	// Earlier is the earlier run that the report compares with, nil for none.
	Earlier *PaperRun
}

// mostCPU is the share of CPU above which a run compares nothing. calibrationSpread bounds the differences between the
// calibrations in the share of the bound and in copies.
const mostCPU, calibrationSpread = 0.85, 0.05

// compared is a row with its outcome.
type compared struct {
	PaperRow
	// Here is the ratio here, zero if there is none. Ratio is Here by Published, zero if they are not compared.
	Here, Ratio float64
	// Outcome is a sentence. Differs marks what holds in the paper and not here.
	Outcome string
	Differs bool
	CPU     float64
	Runs    int
	Load    string
}

// rate returns the rate of Of or By, or zero and the reason. It adds runs and CPU.
func (r *PaperReport) rate(c *compared, key string) (rate float64, why string) {
	name, systems, _ := strings.Cut(key, "/")
	report := r.Results[name]
	if report == nil {
		return 0, "not run"
	}
	c.Load = cmp.Or(c.Load, report.Made.Load)
	if systems == "bound" {
		return report.Bound, "no bound"
	}
	for system := range strings.SplitSeq(systems, "|") {
		for _, l := range report.LeftOut {
			if l.System == system || l.System == "" {
				why = cmp.Or(why, l.Why)
			}
		}
		if res := report.Result(system); res != nil {
			run := res.Median()
			why = cmp.Or(why, oneLine(run.Error))
			rate = max(rate, res.Rate)
			c.CPU, c.Runs = max(c.CPU, run.Machine), max(c.Runs, len(res.Runs))
		}
	}
	return rate, cmp.Or(why, "no result")
}

// compare compares a row.
func (r *PaperReport) compare(f *PaperFigure, row PaperRow) compared {
	c := compared{PaperRow: row}
	of, why := r.rate(&c, row.Of)
	if name, _, _ := strings.Cut(row.Of, "/"); !strings.Contains(row.By, "/") {
		row.By = name + "/" + row.By
	}
	by, whyBy := r.rate(&c, row.By)
	if of == 0 || by == 0 {
		return compared{PaperRow: row, Outcome: pick(of == 0, why, whyBy)}
	}
	c.Here = of / by
	switch {
	case c.CPU > mostCPU:
		c.Outcome = "Not compared: *CPU bound*"
		return c
	case r.scaled(&row) && !r.scaleHolds():
		c.Outcome = "Not compared: the case is scaled, and the calibration differs"
		return c
	case row.Least == 0 && row.Published == 0:
		c.Outcome = "The paper has no number"
		return c
	}
	var parts []string
	if row.Least > 0 {
		c.Differs = c.Here < row.Least
		parts = append(parts, pick(c.Differs, fmt.Sprintf("the order **differs** (at least %.3g expected)", row.Least), "the order holds"))
	}
	if row.Published > 0 {
		c.Ratio = c.Here / row.Published
		off := math.Abs(c.Ratio-1) > f.Tolerance
		c.Differs = c.Differs || off
		parts = append(parts, pick(off, fmt.Sprintf("the ratio **differs** by more than %.0f %%", 100*f.Tolerance), "the ratio agrees"))
	}
	c.Outcome = "T" + strings.Join(parts, ", and ")[1:]
	return c
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// scaled reports whether a case of a row is scaled on the grid. Simulations have no overheads that depend on the scale.
func (r *PaperReport) scaled(row *PaperRow) bool {
	return r.Scale > 1 && slices.ContainsFunc(r.Cases, func(c PaperCase) bool { return c.Scaled && strings.HasPrefix(c.Command, "grid") && row.uses(&c) })
}

// calibrated is the result of a case of the calibration.
type calibrated struct {
	Name, Load         string
	Share, Copies, CPU float64
}

// Calibration lists the results of the calibration.
func (r *PaperReport) Calibration() (all []calibrated) {
	for _, name := range []string{fullSpeed, scaledDown} {
		if report := r.Results[name]; report != nil && report.Result("mob") != nil {
			res := report.Result("mob")
			all = append(all, calibrated{name, report.Made.Load, res.Share, report.MostCopies(res.Median()), res.Median().Machine})
		}
	}
	return all
}

// scaleHolds reports whether the scaled calibration has the share of the bound and the copies of full speed.
func (r *PaperReport) scaleHolds() bool {
	c := r.Calibration()
	return len(c) == 2 && math.Abs(c[0].Share-c[1].Share) <= calibrationSpread && math.Abs(c[0].Copies-c[1].Copies) <= calibrationSpread
}
