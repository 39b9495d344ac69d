package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mobgrid/mob/mob/plan"
)

// planReportOf runs two small cases.
func planReportOf(t *testing.T, symmetric bool) *PlanReport {
	t.Helper()
	r := &PlanReport{Nodes: PlanNodes, Seed: 1}
	for _, n := range []int{5, 40} {
		c := NewPlanCase("mixed", symmetric, n, plan.Algorithms())
		for seed := range uint64(3) {
			if err := c.Run(seed); err != nil {
				t.Fatal(err)
			}
		}
		r.Cases = append(r.Cases, c)
	}
	return r
}

// TestPlanCase requires stable to reach the min-cuts and so to be the best, flat to be 1, and nothing
// to be above the min-cuts.
func TestPlanCase(t *testing.T) {
	t.Parallel()
	for _, symmetric := range []bool{true, false} {
		for _, c := range planReportOf(t, symmetric).Cases {
			best := 0.0
			for _, p := range c.Results {
				best = max(best, p.Mean)
			}
			for _, p := range c.Results {
				if p.OfCuts > 1+1e-9 || !(p.Mean > 0) {
					t.Errorf("%s: %+v", c.links(), p)
				}
				switch p.Algorithm {
				case "stable":
					if symmetric && (p.OfCuts < 1-1e-6 || p.Mean < best*(1-1e-6)) {
						t.Errorf("%s: stable has %v of the min-cuts, and %v of at best %v", c.links(), p.OfCuts, p.Mean, best)
					}
				case "flat":
					if math.Abs(p.Mean-1) > 1e-9 {
						t.Errorf("flat is %v of flat", p.Mean)
					}
				}
			}
		}
	}
}

func TestPlanReport(t *testing.T) {
	t.Parallel()
	r := planReportOf(t, false)
	r.Cases = append(planReportOf(t, true).Cases, r.Cases...)
	var table, text bytes.Buffer
	if err := errors.Join(r.WriteTable(&table), writeJSON(&text, r)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"means of 3 runs", " mixed  ", "mixed, asymmetric  ", " of min-cuts\n", "     40 ", " edmonds "} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, &table)
		}
	}
	var back PlanReport
	if err := json.Unmarshal(text.Bytes(), &back); err != nil || len(back.Cases) != 4 || back.Cases[0].Results[0].Mean != r.Cases[0].Results[0].Mean {
		t.Errorf("%v: %s", err, &text)
	}
}

// TestPlanCaseRepeats requires the same from the same seed.
func TestPlanCaseRepeats(t *testing.T) {
	t.Parallel()
	a, b := planReportOf(t, false), planReportOf(t, false)
	for i := range a.Cases {
		for k, p := range a.Cases[i].Results {
			if q := b.Cases[i].Results[k]; p.Mean != q.Mean || p.OfCuts != q.OfCuts {
				t.Errorf("%s: %v, and again %v", p.Algorithm, p.Mean, q.Mean)
			}
		}
	}
}
