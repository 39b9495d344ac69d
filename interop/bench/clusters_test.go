package bench

import (
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

func TestParseClusters(t *testing.T) {
	for text, want := range map[string]string{
		"4x16": "4x16", "4,12,16,32": "4,12,16,32", "20": "20", "2x3,5": "3,3,5", "1x4": "4", "4,4": "2x4",
		"2x(2x4)": "2x(2x4)", "1x(4x5)": "(4x5)", "(3,5)": "(3,5)", "(4)": "(4)", "4,12,(2x4),(3,5)": "4,12,(2x4),(3,5)",
		"(2,2),(2x2)": "2x(2x2)", "20x(5x20)": "20x(5x20)", "2x(1,2x3)": "2x(1,3,3)",
		"()": "", "(": "", ")": "", "2x()": "", "2x(4": "", "(4),": "", "2(4)": "", "x(4)": "", "((4))": "", "(4)x2": "", "0x(4)": "",
		"2x(0)": "", "(2x4": "", "4)": "", "(4,,2)": "", "(4)(5)": "", "10001x(1)": "",
		"": "", "x": "", "4x": "", "0x4": "", "4x0": "", "-1": "", "4x4x4": "", "4,": "", "four": "", "1001x1": "",
	} {
		got, err := ParseClusters(text)
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v", text, err)
		}
		if c := (&Case{Config: netns.Config{Clusters: got}}); want != "" && c.shape() != want {
			t.Errorf("%q: %s, want %s", text, c.shape(), want)
		}
	}
	racks, err := ParseClusters("4,(3,5)")
	if err != nil || racks[1].Nodes != 8 || racks[1].Path(2) != "B/r1" || racks[1].Path(3) != "B/r2" || racks[0].Path(3) != "A" {
		t.Errorf("%v, %v", racks, err)
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

func FuzzParseClusters(f *testing.F) {
	for _, s := range []string{"4x4", "4,12,(2x4),(3,5)", "2x(2x4)", "20x(5x20)", "((", "1x(1x(1))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all, err := ParseClusters(s)
		if err != nil {
			return
		}
		shape := (&Case{Config: netns.Config{Clusters: all}}).shape()
		again, err := ParseClusters(shape)
		if got := (&Case{Config: netns.Config{Clusters: again}}).shape(); err != nil || got != shape || len(again) != len(all) {
			t.Errorf("%q is %q, which is %q (%v)", s, shape, got, err)
		}
	})
}
