package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files again")

// writeJSON writes a report as mob-bench --json does.
func writeJSON(out io.Writer, report any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(report)
}

// testReport is a report of a good system, a bad one, and one that fails.
func testReport() *Report {
	r := &Report{Case: "3x2 nodes, fast", Scenario: "fast", Bytes: 24e6, Bound: 6e6, Ideal: 4, TCPShare: 0.956,
		Clusters: []ClusterSize{{Name: "A", Nodes: 2}, {Name: "B", Nodes: 2}, {Name: "C", Nodes: 2}},
		LeftOut:  []LeftOut{{"rtorrent", "no rtorrent in $PATH: install it"}}}
	good := func(last float64) *Run {
		run := &Run{Rate: 24e6 / last, Median: last - 0.1, Last: last, Intact: 4, Copied: 4,
			CPU: 2.5, CPUPerGB: 26.04, Peak: 61e6, Machine: 0.35,
			Finished: map[string]float64{"A1": 0.4, "B0": last - 0.1, "B1": last - 0.2, "C1": last}, Killed: []string{"C0"},
			Copies: []ClusterCopies{{"A", 0.01, 0.005}, {"B", 1.02, 0.02}, {"C", 1.035, 0.03}},
			Links: []LinkReport{
				{From: "A", To: "B", Bytes: 12e6, Frames: 4000, Share: 0.93},
				{From: "C", To: "B", Bytes: 12.5e6, Frames: 2000, Share: 0.91}}}
		return run
	}
	for _, last := range []float64{4.5, 4.4, 4.8} {
		r.Add("mob", good(last))
	}
	other := good(9)
	other.Copies = []ClusterCopies{{"A", 0.1, 0}, {"B", 1.5, 0.04}, {"C", 2, 0.06}}
	other.Slow, other.Links = []string{"B1"}, nil
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

// racksReport is a report of two sites of racks, with uplinks.
func racksReport() *Report {
	r := &Report{Case: "2x(2x2) nodes, fast", Bytes: 24e6, Bound: 3e6, Ideal: 8,
		Clusters: []ClusterSize{{"A", 4, []int{2, 2}}, {"B", 4, []int{2, 2}}}}
	r.Add("mob", &Run{Rate: 2.8e6, Median: 8.5, Last: 8.6, Intact: 7, Copied: 7,
		Finished:   map[string]float64{"A1": 8.4, "B3": 8.6},
		Copies:     []ClusterCopies{{"A", 0.01, 0}, {"B", 1.02, 0.01}},
		RackCopies: []ClusterCopies{{"A/r1", 0.02, 0}, {"A/r2", 1.03, 0.01}, {"B/r1", 1.01, 0.01}, {"B/r2", 1.04, 0.01}},
		Links:      []LinkReport{{From: "A", To: "A/r2", Bytes: 24.7e6, Share: 0.23}, {From: "A/r2", To: "A", Bytes: 1e6, Share: 0.01}}})
	r.Add("aria2", &Run{Error: "prepare: no tracker", Finished: map[string]float64{}})
	return r
}

func TestTableOfRacks(t *testing.T) { golden(t, "racks.txt", racksReport().WriteTable) }

func TestLinkTableOfRacks(t *testing.T) { golden(t, "uplinks.txt", racksReport().WriteLinks) }

func TestTable(t *testing.T) { golden(t, "table.txt", testReport().WriteTable) }

func TestLinkTable(t *testing.T) { golden(t, "links.txt", testReport().WriteLinks) }

func TestJSON(t *testing.T) {
	golden(t, "report.json", func(w io.Writer) error { return writeJSON(w, testReport()) })
}

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
