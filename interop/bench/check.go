package bench

import (
	"errors"
	"fmt"
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

// Check is an error when a copy is damaged, and when the system of that name sends
// too much into a cluster, or is slower than another. What killed nodes had fetched
// may cross once more.
func (r *Report) Check(system string) error {
	var errs []error
	var own *Result
	for i := range r.Results {
		res := &r.Results[i]
		for _, run := range res.Runs {
			if run.Intact < run.Copied {
				errs = append(errs, fmt.Errorf("%s: %d of %d copies are damaged", res.System, run.Copied-run.Intact, run.Copied))
			}
		}
		if res.System == system {
			own = res
		}
	}
	if own == nil {
		return errors.Join(append(errs, fmt.Errorf("%s did not run", system))...)
	}
	receivers := -1
	for _, c := range r.Clusters {
		receivers += c.Nodes
	}
	for _, run := range own.Runs {
		limit := copiesLimit + float64(len(run.Killed))/float64(receivers)
		for _, c := range run.Copies {
			if c.Copies > limit {
				errs = append(errs, fmt.Errorf("%s: %.3f copies entered %s, at most %.2f should", system, c.Copies, c.Cluster, limit))
			}
		}
	}
	for _, res := range r.Results {
		if res.Rate > own.Rate {
			errs = append(errs, fmt.Errorf("%s at %s MB/s is slower than %s at %s MB/s", system, figure(own.Rate/1e6), res.System, figure(res.Rate/1e6)))
		}
	}
	return errors.Join(errs...)
}
