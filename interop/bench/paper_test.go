package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// TestPaperTable checks that names and rows are unique, that each row has a source, and that its cases are in the table.
func TestPaperTable(t *testing.T) {
	cases, rows := PaperTable()
	names := map[string]bool{}
	for _, c := range append(Calibration(), cases...) {
		if names[c.Name] || strings.Contains(c.Name, "/") || len(c.Commands) == 0 {
			t.Errorf("case %q: duplicate, with a slash, or without commands", c.Name)
		}
		names[c.Name] = true
	}
	seen := map[string]bool{}
	for _, r := range rows {
		name := strings.Join([]string{r.Paper, r.Figure, r.Group, r.Series}, ", ")
		of, _, _ := strings.Cut(r.Of, "/")
		by, _, _ := strings.Cut(r.By, "/")
		switch {
		case seen[name] || r.Group == "" || r.Series == "" || r.Figure == "":
			t.Errorf("%s: duplicate or without a name", name)
		case r.Source == "":
			t.Errorf("%s: no source", name)
		case !names[of] || !names[by]:
			t.Errorf("%s: no case %q or %q", name, of, by)
		case !slices.Contains(PaperNames(), r.Paper):
			t.Errorf("%s: unknown paper", name)
		}
		seen[name] = true
	}
}

// paperOf is a report with a calibration that holds and results of two systems.
func paperOf(mob, aria2 float64) *PaperReport {
	cases, _ := PaperTable()
	r := &PaperReport{Papers: []string{"mob"}, Scale: 4, Cases: cases, Results: map[string]*Report{}}
	for _, c := range append(Calibration(), PaperCase{Name: fast}, PaperCase{Name: "4,12,16,32"}) {
		report := &Report{Made: &Made{Load: "1.50"}, Bound: 12e6, Clusters: []ClusterSize{{Name: "A", Nodes: 4}, {Name: "B", Nodes: 4}}}
		report.Add("mob", &Run{Rate: mob, Machine: 0.3, Copies: []ClusterCopies{{Cluster: "A"}, {Cluster: "B", Copies: 1.02}}})
		report.Add("aria2", &Run{Rate: aria2, Machine: 0.2})
		r.Results[c.Name] = report
	}
	return r
}

// TestPaperRows checks which rows are compared, and what is said of them.
func TestPaperRows(t *testing.T) {
	scaled := "4,12,16,32"
	copies := func(r *PaperReport) { r.Results["4x4 scaled"].Results[0].Runs[0].Copies[1].Copies = 1.09 }
	for _, c := range []struct {
		name, of, by string
		change       func(r *PaperReport)
		here, ratio  float64
		verdict      string
	}{
		{"agrees", fast + "/mob", fast + "/aria2", nil, 2, 1, "order holds; agrees"},
		{"best of several", fast + "/mob", fast + "/aria2|mob", nil, 1, 0.5, "order **differs**, at least 1.5 expected; **differs**: of the test"},
		{"above the bound", fast + "/bound", fast + "/aria2", nil, 2.4, 1.2, "order holds; **differs**: of the test"},
		{"busy", fast + "/mob", fast + "/aria2", func(r *PaperReport) { r.Results[fast].Results[1].Runs[0].Machine = 0.86 }, 2, 0, "*CPU bound*, not compared"},
		{"scaled", scaled + "/mob", fast + "/aria2", nil, 2, 1, "order holds; agrees"},
		{"scaled, copies differ", scaled + "/mob", fast + "/aria2", copies, 2, 0, "scaled, and the calibration differs: not compared"},
		{"not scaled, copies differ", fast + "/mob", fast + "/aria2", copies, 2, 1, "order holds; agrees"},
		{"failed", fast + "/mob", fast + "/rtorrent", func(r *PaperReport) { r.Results[fast].Add("rtorrent", &Run{Error: "lost"}) }, 0, 0, "lost"},
		{"left out", fast + "/mob", fast + "/rtorrent", func(r *PaperReport) { r.Results[fast].LeftOut = []LeftOut{{"rtorrent", "missing"}} }, 0, 0, "missing"},
		{"all left out", fast + "/mob", fast + "/rtorrent", func(r *PaperReport) { r.Results[fast].LeftOut = []LeftOut{{"", "no root"}} }, 0, 0, "no root"},
		{"not run", "slow/mob", fast + "/aria2", nil, 0, 0, "not run"},
	} {
		r := paperOf(10e6, 5e6)
		if c.change != nil {
			c.change(r)
		}
		got := r.compare(&PaperRow{Of: c.of, By: c.by, Published: 2, Tolerance: 0.1, Least: 1.5, Why: "of the test"})
		if math.Abs(got.Here-c.here) > 1e-9 || math.Abs(got.Ratio-c.ratio) > 1e-9 || got.Verdict != c.verdict || got.Differs != strings.Contains(c.verdict, "differs**") {
			t.Errorf("%s: %v, %v, %q, %v", c.name, got.Here, got.Ratio, got.Verdict, got.Differs)
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

// TestCrossover checks the sizes from which mob is faster than the push.
func TestCrossover(t *testing.T) {
	for want, here := range map[string][]float64{
		"more than 1, up to 2":           {0.5, 0.8, 1.5},
		"**differs**: 2 is slower again": {0.5, 1.2, 0.9},
		"**differs**: slower up to 2":    {0.5, 0.6, 0.9},
		"**differs**: faster from 0 on":  {1.5, 1.6, 1.9},
		"not run":                        {0, 0, 0},
	} {
		var rows []compared
		for i, v := range here {
			rows = append(rows, compared{PaperRow: &PaperRow{Series: messageSeries("40ms"), Group: string(rune('0' + i))}, Here: v})
		}
		if got := crossover(rows, "40ms"); got != want {
			t.Errorf("%v: %q, want %q", here, got, want)
		}
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
		"| 4x4 scaled | 0.417 | 1.02 | 30 % | 1.50 |", "- mob, figure 4, fast, mob / aria2: 0.5. order **differs**, at least 1 expected",
		"| fast: mob / aria2 | - | 0.5 | - |", "| slow: mob / aria2 | - | - | - | not run |", "](mob-4.svg)", "not run at 40 ms",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "mob-4.svg")); err != nil {
		t.Error(err)
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
