package bench

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReadReportsRejects(t *testing.T) {
	whole, err := json.Marshal(testReport())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                       "it is empty: the run that writes it has failed",
		" \n ":                                   "it is empty",
		"mob":                                    "it is not what",
		"[]":                                     "it is not what",
		"null":                                   "no report",
		`{"nodes": 400, "seed": 1, "cases": []}`: "no report with a case",
		string(whole[:len(whole)/2]):             "it is not what",
		strings.Replace(string(whole), `"runs":[`, `"runs":[null,`, 1):  "without a system or runs",
		strings.Replace(string(whole), `"system":"mob"`, `"was":""`, 1): "without a system or runs",
	} {
		if _, err := ReadReports(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
