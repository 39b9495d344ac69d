package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// table writes cells in columns, aligned to the right.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, head ...string) table {
	t := table{tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.row(head...)
	return t
}

func (t table) row(cells ...string) { fmt.Fprintln(t.w, strings.Join(append(cells, ""), "\t")) }

// WriteTable writes the report as a table, with remarks below it.
func (r *Report) WriteTable(out io.Writer) error {
	bound := "nothing is limited"
	if r.Bound > 0 {
		bound = fmt.Sprintf("bound %s MB/s, %.1f s", figure(r.Bound/1e6), r.Ideal)
	}
	fmt.Fprintf(out, "%s, %s: %s\n", r.Case, megabytes(float64(r.Bytes)), bound)
	t := newTable(out, "system", "MB/s", "of bound", "median", "last", r.copiesHead(), "CPU", "per GB", "memory", "machine", "intact")
	for i := range r.Results {
		res := &r.Results[i]
		if run := res.Median(); run.Error == "" {
			t.row(res.System, res.rate(), orNone(res.Share, "%.2f"), seconds(run.Median), seconds(run.Last), r.copies(run),
				orNone(run.CPU, "%.1f s"), orNone(run.CPUPerGB, "%.1f s"), orNone(float64(run.Peak)/1e6, "%.0f MB"),
				orNone(100*run.Machine, "%.0f %%"), run.intact())
		} else {
			t.row(res.System, "failed", "", "", "", r.copies(run), "", "", "", "", run.intact())
		}
	}
	if err := t.w.Flush(); err != nil {
		return err
	}
	for _, line := range r.remarks() {
		fmt.Fprintln(out, line)
	}
	return nil
}

// remarks lists the lines below the table.
func (r *Report) remarks() []string {
	var lines []string
	for _, res := range r.Results {
		for i, run := range res.Runs {
			if run.Error != "" {
				which := res.System
				if len(res.Runs) > 1 {
					which += fmt.Sprintf(", run %d of %d", i+1, len(res.Runs))
				}
				lines = append(lines, fmt.Sprintf("%s failed: %s", which, oneLine(run.Error)))
			}
		}
		run := res.Median()
		if len(run.Killed) > 0 {
			lines = append(lines, fmt.Sprintf("%s: killed, and not counted: %s", res.System, strings.Join(run.Killed, " ")))
		}
		for _, n := range run.Slow {
			text := "not complete"
			if at, ok := run.Finished[n]; ok {
				text = fmt.Sprintf("complete after %.1f s", at)
			}
			lines = append(lines, fmt.Sprintf("%s: slow, and not counted: %s, %s", res.System, n, text))
		}
	}
	for _, res := range r.Results {
		if run := res.Median(); run.ControlPerPayload > 0 {
			lines = append(lines, fmt.Sprintf("%s: control messages are %.2f %% of the bytes delivered to all nodes, "+
				"and %.2f %% of those on the WAN", res.System, 100*run.ControlPerPayload, 100*run.Control))
		}
	}
	for _, l := range r.LeftOut {
		lines = append(lines, fmt.Sprintf("left out: %s: %s", l.System, l.Why))
	}
	if r.TCPShare > 0 {
		line := fmt.Sprintf("Rates of links count Ethernet frames: TCP payload can reach %.3f of the bound.", r.TCPShare)
		lines = append(lines, line)
	}
	return lines
}

// rate is the median in MB/s, with the spread if there are several runs.
func (r *Result) rate() string {
	if len(r.Runs) == 1 {
		return figure(r.Rate / 1e6)
	}
	return fmt.Sprintf("%s (%s-%s)", figure(r.Rate/1e6), figure(r.Slowest/1e6), figure(r.Fastest/1e6))
}

// listed is the highest number of clusters that copies lists one by one.
const listed = 4

// copiesHead is the head of copies.
func (r *Report) copiesHead() string {
	if r.racked() {
		return "WAN copies\track copies"
	}
	return "WAN copies"
}

// copies shows what entered clusters other than the source's and, in its own cell, what
// entered racks other than the source's.
func (r *Report) copies(run *Run) string {
	text := copiesOf(run.Copies[min(1, len(run.Copies)):])
	if r.racked() {
		text += "\t" + copiesOf(r.otherRacks(run))
	}
	return text
}

func (r *Report) racked() bool {
	return slices.ContainsFunc(r.Clusters, func(c ClusterSize) bool { return len(c.Racks) > 0 })
}

// otherRacks returns the copies that entered racks other than the source's, which is the first one of the first
// cluster.
func (r *Report) otherRacks(run *Run) []ClusterCopies {
	if len(run.RackCopies) > 0 && len(r.Clusters[0].Racks) > 0 {
		return run.RackCopies[1:]
	}
	return run.RackCopies
}

// MostCopies returns the most copies that entered a cluster or a rack other than the source's.
func (r *Report) MostCopies(run *Run) (most float64) {
	for _, c := range slices.Concat(run.Copies[min(1, len(run.Copies)):], r.otherRacks(run)) {
		most = max(most, c.Copies)
	}
	return most
}

func copiesOf(others []ClusterCopies) string {
	if len(others) == 0 {
		return "-"
	}
	least, most := others[0].Copies, others[0].Copies
	var all []string
	for _, c := range others {
		all = append(all, fmt.Sprintf("%s %.2f", c.Cluster, c.Copies))
		least, most = min(least, c.Copies), max(most, c.Copies)
	}
	if len(others) > listed {
		return fmt.Sprintf("%.2f-%.2f", least, most)
	}
	return strings.Join(all, " ")
}

func (r *Run) intact() string {
	if r.Copied == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", r.Intact, r.Copied)
}

// figure formats a number with three digits.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// orNone formats a number, or returns "-" for zero.
func orNone(v float64, format string) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

func seconds(s float64) string {
	if s > 0 && s < 0.1 {
		return fmt.Sprintf("%.3f s", s)
	}
	return fmt.Sprintf("%.1f s", s)
}

// megabytes formats a size.
func megabytes(n float64) string {
	if n >= 10e9 {
		return figure(n/1e9) + " GB"
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", n/1e6), "0"), ".") + " MB"
}

// oneLine makes a text of several lines one line.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }
