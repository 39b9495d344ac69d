package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// copiesLimit is the number of copies that may enter a cluster, headers included.
const copiesLimit = 1.05

// Failed returns the errors of all runs.
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

// Check returns an error if a copy is damaged, if one of the named systems sends too much
// into a cluster, or if the fastest of them is slower than another system. Of several runs
// the median counts, as for all numbers: a busy machine sends smaller frames, with more
// headers. What killed nodes had downloaded may cross the WAN once more.
func (r *Report) Check(systems ...string) error {
	var errs []error
	var best *Result
	for i := range r.Results {
		res := &r.Results[i]
		for _, run := range res.Runs {
			if n := run.Copied - run.Intact; n > 0 {
				errs = append(errs, fmt.Errorf("%s: %d of %d copies are damaged", res.System, n, run.Copied))
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
			errs = append(errs, fmt.Errorf("%s at %s MB/s is slower than %s at %s MB/s",
				best.System, figure(best.Rate/1e6), res.System, figure(res.Rate/1e6)))
		}
	}
	return errors.Join(errs...)
}

// checkCopies returns an error if too much entered a cluster.
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

// medianCopies is the median of the copies that entered each cluster and each rack; of an even
// number of runs the greater of the two in the center.
func (r *Result) medianCopies() (median []ClusterCopies) {
	entered := map[string][]float64{}
	for _, run := range r.Runs {
		for _, c := range slices.Concat(run.Copies, run.RackCopies) {
			entered[c.Cluster] = append(entered[c.Cluster], c.Copies)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entered)) {
		all := slices.Sorted(slices.Values(entered[name]))
		median = append(median, ClusterCopies{Cluster: name, Copies: all[len(all)/2]})
	}
	return median
}

// killed is the highest number of nodes that were killed in a run.
func (r *Result) killed() float64 {
	most := 0
	for _, run := range r.Runs {
		most = max(most, len(run.Killed))
	}
	return float64(most)
}
