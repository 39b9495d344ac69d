package bench

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteLinks writes a table of the links of each system's median run.
func (r *Report) WriteLinks(out io.Writer) error {
	var errs []error
	measured := false
	for i := range r.Results {
		if run := r.Results[i].Median(); len(run.Links) > 0 {
			fmt.Fprintf(out, "\n%s: %s\n", r.Results[i].System, r.watched())
			errs = append(errs, run.writeLinks(out, run.Links), run.writeUse(out))
			measured = measured || len(run.Use) > 0
		}
		if run := r.Results[i].Median(); len(run.Uplinks) > 0 {
			fmt.Fprintf(out, "\n%s: the uplinks of racks, into the rack and out of it\n", r.Results[i].System)
			errs = append(errs, run.writeLinks(out, run.Uplinks))
		}
	}
	if measured {
		_, err := io.WriteString(out, "Start: until nine tenths of what TCP can carry were first reached. "+
			"End: after the first cluster was whole, or the first receiver in a single one.\n")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// watched names the links of a report.
func (r *Report) watched() string {
	if len(r.Clusters) == 1 {
		return "what the nodes send into their cluster"
	}
	return "the links into other clusters"
}

func (r *Run) writeLinks(out io.Writer, links []LinkReport) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	measured := len(r.Use) > 0
	if measured {
		fmt.Fprintln(w, "link\tcarried\theaders\tof rate\tidle in start\tmiddle\tend\t")
	} else {
		fmt.Fprintln(w, "link\tcarried\theaders\tof rate\t")
	}
	for _, l := range links {
		fmt.Fprintf(w, "%s-%s\t%s\t%.1f %%\t%.2f\t", l.From, l.To, megabytes(float64(l.Bytes)), 100*l.Headers(), l.Share)
		if measured {
			fmt.Fprintf(w, "%.1f s\t%.1f s\t%.1f s\t", l.Idle.Start, l.Idle.Middle, l.Idle.End)
		}
		fmt.Fprintln(w)
	}
	if measured {
		sum := totalIdle(links)
		fmt.Fprintf(w, "all\t\t\t\t%.1f s\t%.1f s\t%.1f s\t\n", sum.Start, sum.Middle, sum.End)
	}
	return w.Flush()
}

func (r *Run) writeUse(out io.Writer) error {
	if len(r.Use) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "All together, used in each twelfth of the time: %s\n", r.useLine())
	return err
}

// useSteps is the number of figures of useLine.
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
