package bench

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again")

// testReport has a system that does well, one that does not, and one that fails.
func testReport() *Report {
	r := &Report{Case: "3x2 nodes, fast", Scenario: "fast", Bytes: 24e6, Bound: 6e6, Ideal: 4, TCPShare: 0.956,
		Clusters: []ClusterSize{{"A", 2}, {"B", 2}, {"C", 2}},
		LeftOut:  []LeftOut{{"rtorrent", "no rtorrent in $PATH: install it"}}}
	good := func(last float64) *Run {
		run := &Run{Rate: 24e6 / last, Median: last - 0.1, Last: last, CPU: 2.5, CPUPerGB: 26.04, Peak: 61e6, Machine: 0.35, Intact: 4, Copied: 4,
			Finished: map[string]float64{"A1": 0.4, "B0": last - 0.1, "B1": last - 0.2, "C1": last}, Killed: []string{"C0"},
			Copies: []ClusterCopies{{"A", 0.01, 0.005}, {"B", 1.02, 0.02}, {"C", 1.035, 0.03}},
			Links: []LinkReport{
				{From: "A", To: "B", Bytes: 12e6, Frames: 4000, Share: 0.93, Idle: Phases{0.25, 0.04, 0.11}},
				{From: "C", To: "B", Bytes: 12.5e6, Frames: 2000, Share: 0.91, Idle: Phases{0.5, 0, 0.25}}}}
		for i := range 16 {
			run.Use = append(run.Use, Use{float64(i)/4 + 0.125, min(0.95, float64(i)/4)})
		}
		return run
	}
	for _, last := range []float64{4.5, 4.4, 4.8} {
		r.Add("mob", good(last))
	}
	other := good(9)
	other.Copies, other.Slow, other.Links, other.Use = []ClusterCopies{{"A", 0.1, 0}, {"B", 1.5, 0.04}, {"C", 2, 0.06}}, []string{"B1"}, nil, nil
	r.Add("aria2", other)
	r.Add("transmission", &Run{Error: "prepare: no tracker", Finished: map[string]float64{}})
	return r
}

func golden(t *testing.T, name string, write func(w io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs (go test -update writes it again):\n%s", path, got.String())
	}
}

func TestTable(t *testing.T) { golden(t, "table.txt", testReport().WriteTable) }

func TestLinkTable(t *testing.T) { golden(t, "links.txt", testReport().WriteLinks) }

func TestJSON(t *testing.T) { golden(t, "report.json", testReport().WriteJSON) }

func TestMedianAndSpread(t *testing.T) {
	r := testReport()
	mob := r.Results[0]
	if mob.Median().Last != 4.5 || mob.Slowest != 5e6 || !near(mob.Fastest/1e6, 24/4.4) || !near(mob.Share, 24/4.5/6) {
		t.Errorf("%+v", mob)
	}
	r.Add("mob", &Run{Error: "lost"})
	if mob := r.Results[0]; mob.Median().Last != 4.5 || len(mob.Runs) != 4 {
		t.Errorf("a run that failed counts: %+v", mob)
	}
}

func TestCheck(t *testing.T) {
	clean := func() *Report {
		r := testReport()
		r.Results = r.Results[:2]
		return r
	}
	if err := errorsOf(clean()); err != "" {
		t.Errorf("a good report is refused: %s", err)
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
		"mob: lost":                 func(r *Report) { r.Add("mob", &Run{Error: "lost"}) },
		"transmission: out of sync": func(r *Report) { r.Add("transmission", &Run{Error: "out of sync"}) },
	} {
		r := clean()
		change(r)
		if got := errorsOf(r); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := clean() // one of five receivers was killed: a fifth may cross again
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

func TestCheckContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		copies, headers, again float64
		ok                     bool
	}{
		{1.02, 0.01, 0, true},
		{1.07, 0.046, 0, true},
		{1.05, 0.01, 0, false},
		{1.09, 0.01, 0.067, true},
	} {
		err := ClusterCopies{"B", c.copies, c.headers}.CheckContent(c.again)
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
