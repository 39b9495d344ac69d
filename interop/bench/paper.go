package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// PaperCase is runs of mob-bench whose results the rows of a paper compare.
type PaperCase struct {
	// Paper is such as "mob", Name unique.
	Paper, Name string
	// Commands are commands of mob-bench with their flags: grid, sim, planners, or collective with an operation.
	Commands []string
	// WAN is the rate of every link between clusters in MB/s. Zero: the links of the scenario.
	WAN float64
	// Sum has the rate of a run be the sum of the rates of all receivers, instead of the rate of the last one.
	Sum bool
	// Initial has plans made for the links as they are at the start.
	Initial bool
	// Scaled divides rates and size by --scale. Long is left out by --quick.
	Scaled, Long bool
}

// PaperRow compares the ratio of two rates with the ratio in a paper.
type PaperRow struct {
	// Paper and Figure are where the row is from, Group and Series its place in the picture of the figure.
	Paper, Figure, Group, Series string
	// Of and By are a case and a system of it, as in "fast/mob". Of several systems, as in "fast/mob|aria2", the one with
	// the highest rate counts. System "bound" is the bound of the case. Without a case it is the case of Of.
	Of, By string
	// Published is the ratio in the paper, zero if its text gives none, and Tolerance the share by which it may differ.
	Published, Tolerance float64
	// Least is the least ratio with which the order of the paper holds. Zero: none.
	Least float64
	// Source quotes what the paper says. Why is the reason why this differs, if it is known.
	Source, Why string
}

// PaperReport is a comparison with papers.
type PaperReport struct {
	// Papers are the papers that are compared, Scale the divisor of scaled cases.
	Papers []string
	Scale  float64
	Cases  []PaperCase
	// Results has the outcomes of cases by their names. Cases that have not run yet are missing.
	Results map[string]*Report
}

// mostCPU is the share of CPU above which a run compares nothing, and calibrationSpread the most by which the share of
// the bound and the copies of the scaled calibration may differ.
const (
	mostCPU           = 0.85
	calibrationSpread = 0.05
)

// compared is a row with its outcome.
type compared struct {
	*PaperRow
	// Here is the ratio here, zero if there is none. Ratio is Here by Published, zero if they are not compared.
	Here, Ratio float64
	// Verdict is such as "agrees", or a reason. Differs marks what holds in the paper and not here.
	Verdict string
	Differs bool
	CPU     float64
	Runs    int
	Load    string
}

// rate returns the rate of Of or By, or zero after setting the verdict. It adds runs and CPU.
func (r *PaperReport) rate(c *compared, key string) (rate float64) {
	name, systems, _ := strings.Cut(key, "/")
	report := r.Results[name]
	if report == nil {
		c.Verdict = cmp.Or(c.Verdict, "not run")
		return 0
	}
	c.Load = cmp.Or(c.Load, report.Made.Load)
	if systems == "bound" {
		return report.Bound
	}
	why := ""
	for _, system := range strings.Split(systems, "|") {
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
	if rate == 0 {
		c.Verdict = cmp.Or(c.Verdict, why, "no result")
	}
	return rate
}

// compare evaluates a row.
func (r *PaperReport) compare(row *PaperRow) compared {
	c := compared{PaperRow: row}
	of, by := r.rate(&c, row.Of), r.rate(&c, row.By)
	if of == 0 || by == 0 {
		return c
	}
	c.Here = of / by
	switch {
	case c.CPU > mostCPU:
		c.Verdict = "*CPU bound*, not compared"
		return c
	case r.scaled(row) && !r.scaleHolds():
		c.Verdict = "scaled, and the calibration differs: not compared"
		return c
	}
	var verdicts []string
	if row.Least > 0 {
		c.Differs = c.Here < row.Least
		verdicts = append(verdicts, pick(c.Differs, fmt.Sprintf("order **differs**, at least %.3g expected", row.Least), "order holds"))
	}
	if row.Published > 0 {
		c.Ratio = c.Here / row.Published
		off := math.Abs(c.Ratio-1) > row.Tolerance
		c.Differs = c.Differs || off
		verdicts = append(verdicts, pick(off, "**differs**", "agrees"))
	}
	c.Verdict = strings.Join(verdicts, "; ") + pick(c.Differs, ": "+cmp.Or(row.Why, "the reason is not known"), "")
	return c
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// scaled reports whether a case of a row is scaled.
func (r *PaperReport) scaled(row *PaperRow) bool {
	return r.Scale > 1 && slices.ContainsFunc(r.Cases, func(c PaperCase) bool {
		return c.Scaled && (strings.HasPrefix(row.Of, c.Name+"/") || strings.HasPrefix(row.By, c.Name+"/"))
	})
}

// scaleHolds reports whether the scaled calibration has the share of the bound and the copies of full speed.
func (r *PaperReport) scaleHolds() bool {
	var shares, copies []float64
	for _, c := range Calibration() {
		if report := r.Results[c.Name]; report != nil && report.Result("mob") != nil {
			res := report.Result("mob")
			shares, copies = append(shares, res.Share), append(copies, report.MostCopies(res.Median()))
		}
	}
	return len(shares) == 2 && math.Abs(shares[0]-shares[1]) <= calibrationSpread && math.Abs(copies[0]-copies[1]) <= calibrationSpread
}
