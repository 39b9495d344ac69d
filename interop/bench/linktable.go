package bench

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// WriteLinks writes a table of the links of each system's median run.
func (r *Report) WriteLinks(out io.Writer) error {
	var errs []error
	measured := false
	for i := range r.Results {
		if run := r.Results[i].Median(); len(run.Links) > 0 {
			watched := "the links into other clusters"
			if len(r.Clusters) == 1 {
				watched = "the bytes that nodes send into their cluster"
			}
			fmt.Fprintf(out, "\n%s: %s\n", r.Results[i].System, watched)
			errs = append(errs, run.writeLinks(out, run.Links))
			if len(run.Use) > 0 {
				measured = true
				fmt.Fprintf(out, "All together, used in each twelfth of the time: %s\n", run.useLine())
			}
		}
		if run := r.Results[i].Median(); len(run.Uplinks) > 0 {
			fmt.Fprintf(out, "\n%s: the uplinks of racks, into the rack and out of it\n", r.Results[i].System)
			errs = append(errs, run.writeLinks(out, run.Uplinks))
		}
	}
	if measured {
		fmt.Fprint(out, "Start: until nine tenths of what TCP can carry were first reached. "+
			"End: after the first cluster was complete, or the first receiver in a single one.\n")
	}
	return errors.Join(errs...)
}

func (r *Run) writeLinks(out io.Writer, links []LinkReport) error {
	head := []string{"link", "carried", "headers", "of rate"}
	measured := len(r.Use) > 0
	if measured {
		head = append(head, "idle in start", "middle", "end")
	}
	t := newTable(out, head...)
	var all Phases
	for _, l := range links {
		row := []string{l.From + "-" + l.To, megabytes(float64(l.Bytes)), fmt.Sprintf("%.1f %%", 100*l.Headers()), fmt.Sprintf("%.2f", l.Share)}
		if measured {
			row = append(row, seconds(l.Idle.Start), seconds(l.Idle.Middle), seconds(l.Idle.End))
			all = Phases{all.Start + l.Idle.Start, all.Middle + l.Idle.Middle, all.End + l.Idle.End}
		}
		t.row(row...)
	}
	if measured {
		t.row("all", "", "", "", seconds(all.Start), seconds(all.Middle), seconds(all.End))
	}
	return t.w.Flush()
}

// useSteps is the number of values of useLine.
const useSteps = 12

// useLine is the use of all links over time, in percent.
func (r *Run) useLine() string {
	var parts []string
	for i := range useSteps {
		from, to := i*len(r.Use)/useSteps, (i+1)*len(r.Use)/useSteps
		if from == to {
			continue
		}
		sum := 0.0
		for _, u := range r.Use[from:to] {
			sum += u.Share
		}
		parts = append(parts, fmt.Sprintf("%.0f%%", 100*sum/float64(to-from)))
	}
	return strings.Join(parts, " ")
}
