package bench

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// scenarioReport is a report of a scenario without results.
func scenarioReport(scenario string, bound float64) *Report {
	return &Report{Case: "4x4 nodes, " + scenario + ", round trip 20ms", Scenario: scenario, Bytes: 240e6, Bound: bound, Ideal: 240e6 / bound,
		TCPShare: 0.956, Clusters: []ClusterSize{{Name: "A", Nodes: 4}, {Name: "B", Nodes: 4}}}
}

// severalScenarios are reports of which one lacks systems, one has a run that failed, and one has several runs. They are
// written and read.
func severalScenarios(t *testing.T) Scenarios {
	t.Helper()
	fast, slow, mayhem := scenarioReport("fast", 12e6), scenarioReport("slow", 7e6), scenarioReport("mayhem", 6e6)
	add := func(r *Report, system string, rates ...float64) {
		for _, rate := range rates {
			r.Add(system, &Run{Rate: rate, Last: 240e6 / rate, Intact: 7, Copied: 7, Finished: map[string]float64{"B0": 240e6 / rate}})
		}
	}
	add(fast, "mob", 10e6)
	fast.Add("aria2", &Run{Error: "no tracker\nat all"})
	add(fast, "mob:plan=chain", 2e6)
	add(slow, "mob", 6.5e6)
	add(mayhem, "mob", 5e6, 4e6, 4.5e6)
	add(mayhem, "aria2", 3e6)
	var text bytes.Buffer
	if err := writeJSON(&text, Scenarios{fast, slow, mayhem}); err != nil {
		t.Fatal(err)
	}
	all, err := ReadScenarios(&text)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	return all
}

func TestScenariosTable(t *testing.T) { golden(t, "scenarios.txt", severalScenarios(t).WriteTable) }

func TestReadScenariosRejects(t *testing.T) {
	whole, err := json.Marshal(testReport())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                       "it is empty: the run that writes it has failed",
		" \n ":                                   "it is empty",
		"mob":                                    "it is not what",
		"[]":                                     "no report",
		"null":                                   "no report",
		`{"nodes": 400, "seed": 1, "cases": []}`: "no report with a case",
		string(whole[:len(whole)/2]):             "it is not what",
		strings.Replace(string(whole), `"runs":[`, `"runs":[null,`, 1):  "without a system or runs",
		strings.Replace(string(whole), `"system":"mob"`, `"was":""`, 1): "without a system or runs",
	} {
		if _, err := ReadScenarios(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// TestScenariosSVG counts what is drawn: a bar and a figure for each result, relative ones where the
// system also has a rate in the first scenario, and names.
func TestScenariosSVG(t *testing.T) {
	all := severalScenarios(t)
	svg := drawn(t, all.WriteSVG)
	count := func(text string) int { return strings.Count(svg, ">"+text+"<") }
	for text, want := range map[string]int{
		"mob": 1, "aria2": 1, "mob:plan=chain": 1, "the bound": 1,
		"fast": 1, "slow": 2, "mayhem": 2, // both panels, except the scenario that the second is relative to
		"10.0": 1, "6.5": 1, "4.5": 1, "3.0": 1, "2.0": 1, "failed": 1,
		"65": 1, "45": 1, // percent of fast
		"4x4 nodes, round trip 20ms, 240 MB": 1, "throughput relative to fast, percent": 1,
	} {
		if count(text) != want {
			t.Errorf("%q is found %d times, want %d", text, count(text), want)
		}
	}
	if bounds := len(regexp.MustCompile("stroke-dasharray").FindAllString(svg, -1)); bounds != 3+2+1 {
		t.Errorf("%d dashed lines, want one for each scenario in each panel, and one in the legend", bounds)
	}
	if svg != drawn(t, severalScenarios(t).WriteSVG) {
		t.Error("the same reports give another picture")
	}
}
