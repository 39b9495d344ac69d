package bench

import (
	"testing"
)

func TestParseClusters(t *testing.T) {
	for text, want := range map[string]string{
		"4x16": "4x16", "4,12,16,32": "4,12,16,32", "20": "20", "2x3,5": "3,3,5", "1x4": "4", "4,4": "2x4",
		"": "", "x": "", "4x": "", "0x4": "", "4x0": "", "-1": "", "4x4x4": "", "4,": "", "four": "", "1001x1": "",
	} {
		got, err := ParseClusters(text)
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v", text, err)
		}
		if c := (&Case{Clusters: got}); want != "" && c.shape() != want {
			t.Errorf("%q: %s, want %s", text, c.shape(), want)
		}
	}
	many, err := ParseClusters("30x1")
	if err != nil || many[0].Name != "A" || many[25].Name != "Z" || many[26].Name != "AA" || many[29].Name != "AD" {
		t.Errorf("%v, %v", many, err)
	}
}

func clusterNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, clusterName(i))
	}
	return names
}
