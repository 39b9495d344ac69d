package bench

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	clean := func() *Report {
		r := testReport()
		r.Results = r.Results[:2]
		return r
	}
	if err := errorsOf(clean()); err != "" {
		t.Errorf("a good report is rejected: %s", err)
	}
	for want, change := range map[string]func(r *Report){
		"aria2: 1 of 4 copies are damaged": func(r *Report) { r.Results[1].Runs[0].Intact = 3 },
		"mob: 2 of 4 copies are damaged":   func(r *Report) { r.Results[0].Runs[1].Intact = 2 },
		"copies entered B": func(r *Report) {
			for _, run := range r.Results[0].Runs {
				run.Killed = nil
			}
			r.Results[0].Runs[1].Copies[1].Copies = 1.06
			r.Results[0].Runs[2].Copies[1].Copies = 1.06
		},
		"mob at 5.33 MB/s is slower than aria2 at 5.40 MB/s": func(r *Report) { r.Results[1].Rate = 5.4e6 },
		"mob, mob:coded did not run":                         func(r *Report) { r.Results = r.Results[1:] },
		"mob:coded: 1.060 copies entered C": func(r *Report) {
			run := *r.Results[0].Runs[0]
			run.Killed, run.Copies = nil, []ClusterCopies{{Cluster: "A"}, {Cluster: "B", Copies: 1}, {Cluster: "C", Copies: 1.06}}
			r.Add("mob:coded", &run)
		},
		"mob: 1.070 copies entered B/r1": func(r *Report) {
			run := *r.Results[0].Runs[0]
			run.Killed, run.RackCopies = nil, []ClusterCopies{{Cluster: "A/r1"}, {Cluster: "B/r1", Copies: 1.07}}
			r.Results = nil
			r.Add("mob", &run)
		},
		"mob: lost":                 func(r *Report) { r.Add("mob", &Run{Error: "lost"}) },
		"transmission: out of sync": func(r *Report) { r.Add("transmission", &Run{Error: "out of sync"}) },
	} {
		r := clean()
		change(r)
		if got := errorsOf(r); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := clean() // one of five receivers was killed: a fifth of the content may cross again
	for _, run := range r.Results[0].Runs {
		run.Copies[1].Copies = 1.2
	}
	if err := errorsOf(r); err != "" {
		t.Error(err)
	}
	r = clean() // the faster of two counts
	r.Add("mob:coded", &Run{Rate: 1e6, Last: 24, Intact: 4, Copied: 4})
	if err := errorsOf(r); err != "" {
		t.Error(err)
	}
	r = clean() // the median counts
	r.Results[0].Runs[0].Copies[1].Copies = 2
	if err := errorsOf(r); err != "" {
		t.Error(err)
	}
}

func errorsOf(r *Report) string {
	var text string
	for _, err := range []error{r.Failed(), r.Check("mob", "mob:coded")} {
		if err != nil {
			text += err.Error() + "\n"
		}
	}
	return text
}
