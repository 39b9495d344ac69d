package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// copiesLimit is how often content may enter a cluster, protocol and headers
// included.
const copiesLimit = 1.05

// Failed is an error when a run did not end well.
func (r *Report) Failed() error {
	var errs []error
	for _, res := range r.Results {
		for _, run := range res.Runs {
			if run.Error != "" {
				errs = append(errs, fmt.Errorf("%s: %s", res.System, run.Error))
			}
		}
	}
	return errors.Join(errs...)
}

// Check is an error when a copy is damaged, when one of the systems of these names
// sends too much into a cluster, and when the fastest of them is slower than another:
// of several runs in the median, as for all figures, since a busy machine makes for
// small packets with many headers. What killed nodes had fetched may cross once more.
func (r *Report) Check(systems ...string) error {
	var errs []error
	var best *Result
	for i := range r.Results {
		res := &r.Results[i]
		for _, run := range res.Runs {
			if run.Intact < run.Copied {
				errs = append(errs, fmt.Errorf("%s: %d of %d copies are damaged", res.System, run.Copied-run.Intact, run.Copied))
			}
		}
		if slices.Contains(systems, res.System) {
			errs = append(errs, r.checkCopies(res))
			if best == nil || res.Rate > best.Rate {
				best = res
			}
		}
	}
	if best == nil {
		return errors.Join(append(errs, fmt.Errorf("%s did not run", strings.Join(systems, ", ")))...)
	}
	for _, res := range r.Results {
		if res.Rate > best.Rate {
			errs = append(errs, fmt.Errorf("%s at %s MB/s is slower than %s at %s MB/s", best.System, figure(best.Rate/1e6), res.System, figure(res.Rate/1e6)))
		}
	}
	return errors.Join(errs...)
}

// checkCopies is an error when too much entered a cluster.
func (r *Report) checkCopies(res *Result) error {
	receivers := -1
	for _, c := range r.Clusters {
		receivers += c.Nodes
	}
	var errs []error
	for _, c := range res.medianCopies() {
		if limit := copiesLimit + res.killed()/float64(receivers); c.Copies > limit {
			errs = append(errs, fmt.Errorf("%s: %.3f copies entered %s, at most %.2f should", res.System, c.Copies, c.Cluster, limit))
		}
	}
	return errors.Join(errs...)
}

// medianCopies is, for each cluster, what entered it in the median of the runs; of
// an even number of runs the greater one in the middle.
func (r *Result) medianCopies() []ClusterCopies {
	var median []ClusterCopies
	if len(r.Runs) == 0 {
		return nil
	}
	for i, c := range r.Runs[0].Copies {
		var all []float64
		for _, run := range r.Runs {
			if i < len(run.Copies) { // one that failed may have none
				all = append(all, run.Copies[i].Copies)
			}
		}
		slices.Sort(all)
		median = append(median, ClusterCopies{Cluster: c.Cluster, Copies: all[len(all)/2]})
	}
	return median
}

// killed is the most nodes that were killed in a run.
func (r *Result) killed() float64 {
	most := 0
	for _, run := range r.Runs {
		most = max(most, len(run.Killed))
	}
	return float64(most)
}
