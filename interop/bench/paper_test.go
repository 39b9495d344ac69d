package bench

import (
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
	r := &PaperReport{Made: &Made{}, Papers: []string{"mob"}, Scale: 4, Results: map[string]*PaperResult{}}
	for _, name := range []string{calibrationFull, calibrationScaled, fast} {
		p := NewPaperResult()
		p.Rates["mob"], p.Rates["aria2"], p.Rates[boundSystem], p.Copies["mob"] = mob, aria2, 12e6, 1.02
		r.Results[name] = p
	}
	return r
}

// TestPaperRows checks which rows are compared, and what is said of them.
func TestPaperRows(t *testing.T) {
	row := &PaperRow{Of: "fast/mob", By: "fast/aria2|bound", Factor: 2, Published: 1.7, Least: 1.5, Why: "of the test"}
	for _, c := range []struct {
		name          string
		change        func(r *PaperReport)
		here, ratio   float64
		verdict       string
		differs, ends bool
	}{
		{"agrees", func(*PaperReport) {}, 1.8, 1.8 / 1.7, "order holds; agrees", false, true},
		{"slow", func(r *PaperReport) { r.Results[fast].Rates["mob"] = 6e6 }, 1, 1 / 1.7, "order **differs**, at least 1.5 expected; **differs**: of the test", true, true},
		{"busy", func(r *PaperReport) { r.Results[fast].CPU["aria2"] = 0.86 }, 1.8, 0, "*CPU bound*, not compared", false, true},
		{"scaled", func(r *PaperReport) { r.Results[fast].Scaled = true }, 1.8, 1.8 / 1.7, "order holds; agrees", false, true},
		{"scaled, copies differ", func(r *PaperReport) {
			r.Results[fast].Scaled, r.Results[calibrationScaled].Copies["mob"] = true, 1.09
		}, 1.8, 0, "scaled, and the calibration differs: not compared", false, true},
		{"failed", func(r *PaperReport) {
			r.Results[fast].Rates = map[string]float64{}
			r.Results[fast].Failed["mob"] = "lost"
		}, 0, 0, "lost", false, true},
		{"not run", func(r *PaperReport) { delete(r.Results, fast) }, 0, 0, "not run", false, true},
	} {
		r := paperOf(10.8e6, 5e6)
		c.change(r)
		got := r.compare(row)
		if got.Here-c.here > 1e-9 || got.Ratio-c.ratio > 1e-9 || c.ratio-got.Ratio > 1e-9 || got.Verdict != c.verdict || got.Differs != c.differs {
			t.Errorf("%s: %v, %v, %q, %v", c.name, got.Here, got.Ratio, got.Verdict, got.Differs)
		}
	}
}

// TestCrossover checks the sizes from which mob is faster than the push.
func TestCrossover(t *testing.T) {
	for want, here := range map[string][]float64{
		"between 1 and 2, as in the paper":                               {0.5, 0.8, 1.5},
		"between 0 and 1, **differs**: a larger message is slower again": {0.5, 1.2, 0.9},
		"**differs**: the push is faster up to 2":                        {0.5, 0.6, 0.9},
		"**differs**: mob is faster from 0 on, the smallest message":     {1.5, 1.6, 1.9},
		"not run": {0, 0, 0},
	} {
		var rows []compared
		for i, v := range here {
			rows = append(rows, compared{PaperRow: &PaperRow{Series: "s", Group: string(rune('0' + i))}, Here: v})
		}
		if got := crossover(rows, "s"); got != want {
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
		"| 4x4 scaled | 0.417 | 1.02 |", "- mob, figure 4, fast, mob / aria2: 0.5. order **differs**, at least 1 expected",
		"| fast: mob / aria2 | - | 0.5 | - |", "| slow: mob / aria2 | - | - | - | not run |", "](mob-4.svg)", "- 40ms: not run",
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
