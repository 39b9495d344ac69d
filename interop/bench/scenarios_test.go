package bench

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// scenarioReport is a report of one system in a scenario.
func scenarioReport(scenario, system string, bound, rate float64) *Report {
	r := &Report{Case: "4x4 nodes, " + scenario + ", round trip 20ms", Scenario: scenario, Bytes: 240e6, Bound: bound, Ideal: 240e6 / bound,
		TCPShare: 0.956, Clusters: []ClusterSize{{Name: "A", Nodes: 4}, {Name: "B", Nodes: 4}}}
	r.Add(system, &Run{Rate: rate, Last: 240e6 / rate, Intact: 7, Copied: 7, Finished: map[string]float64{"B0": 240e6 / rate}})
	return r
}

// mergedScenarios merges single runs, the last scenario first: one is missing, one failed, and one
// was run three times.
func mergedScenarios(t *testing.T) Scenarios {
	t.Helper()
	failed := scenarioReport("fast", "aria2", 12e6, 5e6)
	failed.Results = nil
	failed.Add("aria2", &Run{Error: "no tracker\nat all"})
	var all Scenarios
	for _, r := range []*Report{
		scenarioReport("mayhem", "mob", 6e6, 5e6),
		scenarioReport("mayhem", "aria2", 6e6, 3e6),
		scenarioReport("fast", "mob", 12e6, 10e6),
		failed,
		scenarioReport("fast", "mob:plan=chain", 12e6, 2e6),
		scenarioReport("slow", "mob", 7e6, 6.5e6),
		scenarioReport("mayhem", "mob", 6e6, 4e6),
		scenarioReport("mayhem", "mob", 6e6, 4.5e6),
	} {
		// What is read is what was written.
		var text bytes.Buffer
		if err := writeJSON(&text, r); err != nil {
			t.Fatal(err)
		}
		read, err := ReadScenarios(&text)
		if err != nil || len(read) != 1 {
			t.Fatal(read, err)
		}
		if err := all.Add(read[0]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestScenariosTable(t *testing.T) { golden(t, "scenarios.txt", mergedScenarios(t).WriteTable) }

func TestScenariosMerge(t *testing.T) {
	all := mergedScenarios(t)
	if len(all) != 3 || all[0].Scenario != "fast" || all[1].Scenario != "slow" || all[2].Scenario != "mayhem" {
		t.Fatalf("%d scenarios, not in the order of ScenarioNames", len(all))
	}
	if mob := all[2].Result("mob"); len(mob.Runs) != 3 || mob.Rate != 4.5e6 || mob.Slowest != 4e6 || mob.Fastest != 5e6 || mob.Share != 0.75 {
		t.Errorf("%+v", mob)
	}
	var list, table, again bytes.Buffer
	if err := writeJSON(&list, all); err != nil {
		t.Fatal(err)
	}
	back, err := ReadScenarios(&list)
	if err != nil {
		t.Fatal(err)
	}
	if err := all.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	if err := back.WriteTable(&again); err != nil || again.String() != table.String() {
		t.Errorf("another table from the list that was written: %v\n%s", err, &again)
	}
}

func TestScenariosOfOtherCases(t *testing.T) {
	big, racked, wide := scenarioReport("slow", "mob", 7e6, 6e6), scenarioReport("slow", "mob", 7e6, 6e6), scenarioReport("fast", "mob", 13e6, 6e6)
	big.Bytes *= 2
	racked.Case = "2x(2x4) nodes, slow, round trip 20ms"
	for want, r := range map[string]*Report{
		"480 MB, unlike 4x4 nodes":                       big,
		"2x(2x4) nodes, round trip 20ms, 240 MB, unlike": racked,
		"bound of 13.0 MB/s, unlike 12.0":                wide,
	} {
		all := mergedScenarios(t)
		if err := all.Add(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

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
	all := mergedScenarios(t)
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
	if svg != drawn(t, mergedScenarios(t).WriteSVG) {
		t.Error("the same reports give another picture")
	}
}
