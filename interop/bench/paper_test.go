package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// TestPaperTable checks that names and rows are unique, that each row has a source, and that rows and cases have each other.
func TestPaperTable(t *testing.T) {
	names := map[string]bool{}
	for _, c := range PaperCases(PaperNames()...) {
		if names[c.Name] || strings.ContainsAny(c.Name+c.Command, "/*{}") || c.Command == "" {
			t.Errorf("case %q: duplicate, without a command, or with a slash, an asterisk or braces", c.Name)
		}
		names[c.Name] = true
	}
	if all := eachValue(paperCases(), func(c *PaperCase) []*string { return []*string{&c.Name} }); len(all) != len(names) {
		t.Errorf("%d cases, and %d with rows", len(all), len(names))
	}
	seen := map[string]bool{}
	for _, f := range PaperFigures(PaperNames()...) {
		for _, r := range f.Rows {
			name := strings.Join([]string{f.Name, r.Group, r.Series}, ", ")
			of, _, _ := strings.Cut(r.Of, "/")
			by, _, other := strings.Cut(r.By, "/")
			switch {
			case seen[name] || r.Group == "" || r.Series == "" || f.Source == "" || f.Tolerance == 0:
				t.Errorf("%s: duplicate, or without a name, source or tolerance", name)
			case !names[of] || other && !names[by]:
				t.Errorf("%s: no case %q or %q", name, of, by)
			}
			seen[name] = true
		}
	}
	if got := len(PaperFigures(PaperNames()...)); got != len(paperFigures()) {
		t.Errorf("%d of %d figures have papers", got, len(paperFigures()))
	}
}

// paperOf is a report with a calibration that holds and results of two systems.
func paperOf(mob, aria2 float64) *PaperReport {
	r := &PaperReport{Papers: []string{"mob"}, Scale: 4, Cases: PaperCases("mob", "stable"), Results: map[string]*Report{}}
	for _, name := range []string{fullSpeed, scaledDown, fast, "64 nodes", "7a simulated", "32kB 40ms", "8MB 40ms"} {
		report := &Report{Made: &Made{Load: "1.50"}, Bound: 12e6, Clusters: []ClusterSize{{Name: "A", Nodes: 4}, {Name: "B", Nodes: 4}}}
		report.Add("mob", &Run{Rate: mob, Machine: 0.3, Copies: []ClusterCopies{{Cluster: "A"}, {Cluster: "B", Copies: 1.02}}})
		report.Add("aria2", &Run{Rate: aria2, Machine: 0.2})
		report.Add("magpie", &Run{Rate: aria2, Machine: 0.2})
		r.Results[name] = report
	}
	return r
}

// TestPaperRows checks which rows are compared, and the sentences of their outcomes.
func TestPaperRows(t *testing.T) {
	const scaled, simulated = "64 nodes", "7a simulated"
	copies := func(r *PaperReport) { r.Results[scaledDown].Results[0].Runs[0].Copies[1].Copies = 1.09 }
	busy := func(systems ...int) func(r *PaperReport) {
		return func(r *PaperReport) {
			for _, i := range systems {
				r.Results[fast].Results[i].Runs[0].Machine = 0.86
			}
		}
	}
	for _, c := range []struct {
		name, of, by     string
		change           func(r *PaperReport)
		published, least float64
		here, ratio      float64
		outcome          string
	}{
		{"agrees", fast + "/mob", "aria2", nil, 2, 1.5, 2, 1, "The order holds, and the ratio agrees"},
		{"other order", fast + "/aria2", "mob", nil, 2, 1.5, 0.5, 0.25, "The order **differs** (at least 1.5 expected), and the ratio **differs** by more than 10 %"},
		{"other ratio", fast + "/mob", "aria2", nil, 2.5, 1.5, 2, 0.8, "The order holds, and the ratio **differs** by more than 10 %"},
		{"order only", fast + "/mob", "aria2", nil, 0, 1.5, 2, 0, "The order holds"},
		{"ratio only", fast + "/mob", "aria2", nil, 2, 0, 2, 1, "The ratio agrees"},
		{"no number", fast + "/mob", "bound", nil, 0, 0, 10.0 / 12, 0, "The paper has no number"},
		{"best of several", fast + "/mob", fast + "/aria2|mob", nil, 1, 1, 1, 1, "The order holds, and the ratio agrees"},
		{"both busy", fast + "/mob", "aria2", busy(0, 1), 2, 1.5, 2, 0, "Not compared: *CPU bound*"},
		{"one busy", fast + "/mob", "aria2", busy(1), 2, 1.5, 2, 0, "Not compared: *CPU bound*"},
		{"scaled", scaled + "/mob", "aria2", nil, 2, 1.5, 2, 1, "The order holds, and the ratio agrees"},
		{"scaled, copies differ", scaled + "/mob", fast + "/aria2", copies, 2, 1.5, 2, 0, "Not compared: the case is scaled, and the calibration differs"},
		{"scaled simulation, copies differ", simulated + "/mob", "aria2", copies, 2, 1.5, 2, 1, "The order holds, and the ratio agrees"},
		{"not scaled, copies differ", fast + "/mob", "aria2", func(r *PaperReport) { copies(r); r.Scale = 1 }, 2, 1.5, 2, 1, "The order holds, and the ratio agrees"},
		{"failed", fast + "/mob", "rtorrent", func(r *PaperReport) { r.Results[fast].Add("rtorrent", &Run{Error: "lost"}) }, 2, 1.5, 0, 0, "lost"},
		{"left out", fast + "/mob", "rtorrent", func(r *PaperReport) { r.Results[fast].LeftOut = []LeftOut{{"rtorrent", "missing"}} }, 2, 1.5, 0, 0, "missing"},
		{"all left out", fast + "/mob", "rtorrent", func(r *PaperReport) { r.Results[fast].LeftOut = []LeftOut{{"", "no root"}} }, 2, 1.5, 0, 0, "no root"},
		{"not run", "slow/mob", fast + "/aria2", nil, 2, 1.5, 0, 0, "not run"},
	} {
		r := paperOf(10e6, 5e6)
		if c.change != nil {
			c.change(r)
		}
		got := r.compare(&PaperFigure{Tolerance: 0.1}, PaperRow{Of: c.of, By: c.by, Published: c.published, Least: c.least})
		if math.Abs(got.Here-c.here) > 1e-9 || math.Abs(got.Ratio-c.ratio) > 1e-9 || got.Outcome != c.outcome || got.Differs != strings.Contains(c.outcome, "differs**") {
			t.Errorf("%s: %v, %v, %q, %v", c.name, got.Here, got.Ratio, got.Outcome, got.Differs)
		}
	}
}

// TestSimulatedRuns checks that the results of rounds and planners have as many runs as were made.
func TestSimulatedRuns(t *testing.T) {
	rounds := &RoundReport{Cases: []*RoundCase{
		{Strategy: "permutation", Nodes: 20, Limit: 36, Rounds: []int{44, 40, 45}}, {Strategy: "rb", Nodes: 20, Limit: 36, Rounds: []int{50, 60, 70}},
	}}
	planners := &PlanReport{Cases: []*PlanCase{{Model: "low", Destinations: 10, Results: []PlanResult{{Algorithm: "stable", Relative: []float64{1, 6}, Mean: 3.5}}}}}
	for _, c := range []struct {
		report *Report
		system string
		runs   int
		rate   float64
	}{
		{rounds.Medians(), "permutation 20", 3, 1.0 / 44},
		{rounds.Medians(), "bound 20", 1, 1.0 / 36},
		{planners.Means(), "stable low, asymmetric 10", 2, 3.5},
	} {
		if got := c.report.Result(c.system); len(got.Runs) != c.runs || got.Rate != c.rate {
			t.Errorf("%s: %d runs, rate %v", c.system, len(got.Runs), got.Rate)
		}
	}
}

// TestCrossover checks the least sizes whose push is slower than mob.
func TestCrossover(t *testing.T) {
	for want, here := range map[string][]float64{
		" slower up to 1 and faster from 2 on":               {0.5, 0.8, 1.5},
		" slower up to 2":                                    {0.5, 1.2, 0.9},
		" faster from 0 on":                                  {1.5, 1.6, 1.9},
		" slower up to 0 and faster from 2 on (*CPU bound*)": {0.5, 0, -1.9},
		"": {0, 0, 0},
	} {
		f := &comparedFigure{PaperFigure: PaperFigure{Name: messages}}
		for i, v := range here {
			f.Compared = append(f.Compared, compared{PaperRow: PaperRow{Group: string(rune('0' + i))}, Here: math.Abs(v), CPU: 0.8 - min(v, 0)})
		}
		if got := f.Crossover(); got != want {
			t.Errorf("%v: %q, want %q", here, got, want)
		}
	}
	if got := new(comparedFigure).Crossover(); got != "" {
		t.Errorf("%q for another figure", got)
	}
}

// TestPaperReport checks that each row has a value or a reason, that orders that fail are named, and the pictures.
func TestPaperReport(t *testing.T) {
	dir := t.TempDir()
	if err := paperOf(5e6, 10e6).Write(dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{
		"than 85 % busy", "by more than 0.05.",
		"| 4x4 scaled | 0.417 | 1.02 | 30 % | 1.50 |",
		"- mob, figures 4 and 5: fast, mob / aria2: 0.5. The order **differs** (at least 1 expected): the reason is not known.",
		"| fast: mob / aria2 | - | 0.5 | - | The order **differs** (at least 1 expected) | 1 | 30 % | 1.50 |",
		"| slow: mob / aria2 | - | - | - | not run | - | - | - |",
		"](mob-figures-4-and-5.svg)",
		"Here mob is slower up to 8MB.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "mob-figures-4-and-5.svg")); err != nil {
		t.Error(err)
	}
}

// TestRepeatedPaperRun checks that a report compares its rows with the earlier run of the same machine.
func TestRepeatedPaperRun(t *testing.T) {
	dir := t.TempDir()
	if run, err := ReadPaperRun(dir); run != nil || err != nil {
		t.Fatalf("%v, %v without an earlier run", run, err)
	}
	if err := paperOf(10e6, 5e6).Save(dir); err != nil {
		t.Fatal(err)
	}
	r := paperOf(10e6, 5.4e6) // 8 % more than before
	r.Results[fast].Results[0].Rate = 6e6
	r.Results["slow"] = r.Results[fast] // did not run before
	var err error
	if r.Earlier, err = ReadPaperRun(dir); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	const differs = "\n- mob, figures 4 and 5: fast, mob / aria2: 1.11, and 2 before\n"
	got := r.Repeated()
	if !strings.Contains(text, differs) || !strings.Contains(text, fmt.Sprintf("In %d of %d rows", got.Agree, got.Rows)) || got.Rows-got.Agree != len(got.Differ) || got.Agree == 0 {
		t.Errorf("%+v in\n%s", got, text)
	}
	if strings.Contains(strings.Join(got.Differ, ""), "slow") || strings.Contains(strings.Join(got.Differ, ""), "32kB") {
		t.Errorf("rows that did not run before, or agree: %q", got.Differ)
	}
	r.Earlier.Made.Machine = "another one"
	b, err = json.Marshal(r.Earlier)
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, runFile), b, 0o600)); err != nil {
		t.Fatal(err)
	}
	if run, err := ReadPaperRun(dir); run != nil || err != nil {
		t.Errorf("%v, %v after a run on another machine", run, err)
	}
}

// TestScale checks that rates and sizes are divided, and times are not.
func TestScale(t *testing.T) {
	c := testCase(t, "2x3", 12e6)
	c.Clusters[0].NIC, c.Clusters[1].SlowNIC = 8*netns.MBps, map[int]netns.Rate{1: 4 * netns.MBps}
	ideal := c.Ideal()
	c.Scale(4)
	links, _ := c.Scenario(0)
	if c.Size != 3e6 || c.Clusters[0].NIC != 2*netns.MBps || c.Clusters[1].SlowNIC[1] != netns.MBps ||
		links.Rate("A", "B") != netns.Fast().Rate("A", "B")/4 || c.nominal().Rate("A", "B") != links.Rate("A", "B") {
		t.Errorf("%+v, links %v", c, links)
	}
	if got := c.Ideal(); got != ideal {
		t.Errorf("the ideal time is %v, and was %v", got, ideal)
	}
}
