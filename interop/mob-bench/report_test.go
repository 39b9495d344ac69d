package main

import (
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/bench"
)

// TestReport checks that the last result of a case counts, and that missed targets, failed runs and old
// results are marked.
func TestReport(t *testing.T) {
	cases, err := benchmarkCases()
	if err != nil {
		t.Fatal(err)
	}
	var all []*bench.Report
	for _, rates := range [][]float64{{1e6}, {10.5e6, 11e6}} {
		r := &bench.Report{Made: &bench.Made{Commit: "0000000", Date: "2026-01-02"}, Case: "4x4 nodes, fast, cubic", Bytes: 240e6, Bound: 12e6}
		for _, rate := range rates {
			r.Add("mob", &bench.Run{Rate: rate, Copies: []bench.ClusterCopies{{Cluster: "A"}, {Cluster: "B", Copies: 1.05}}})
		}
		r.Add("mob:coded", &bench.Run{Error: "lost"})
		all = append(all, r)
	}
	slow := &bench.Report{Case: "20 nodes, cubic, NICs of 12.5 MB/s", Bytes: 200e6}
	slow.Add("mob", &bench.Run{Last: 19})
	slow.Add("mob", &bench.Run{Last: 22})
	var text strings.Builder
	if err := writeBenchmarks(&text, cases, append(all, slow)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 4x4 fast, 240 MB | >= 0.9 of bound, <= 1.04 copies | **0.875** | 0.917 | **1.05** |  | 2 | *old* 0000000 | 2026-01-02 |",
		"| coded | >= 0.817 of bound | **0** | **0** |",
		"| 20 nodes, 200 MB | <= 20.8 s | **22** | 19 |",
		"| plan | of bound |  |  |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}
