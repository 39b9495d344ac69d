package topology

import (
	"slices"
	"testing"

	"github.com/mobgrid/mob/mob/plan"
)

func TestParseTopology(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte(`
[[host]]
name = "a1"
cluster = "A/r1"
send = "12.5MB"
receive = "100Mbit"
[[host]]
name = "b1"
[[switch]]
name = "core"
[[link]]
a = "A"
b = "core"
rate = "1GB"
[[link]]
a = "b1"
b = "core"
ab = "1MB"
ba = "2MB"
`))
	if err != nil {
		t.Fatal(err)
	}
	if h := []plan.Host{{Name: "a1", Cluster: "A/r1", Send: 12.5e6, Receive: 12.5e6}, {Name: "b1"}}; !slices.Equal(got.Hosts, h) {
		t.Errorf("%+v, want %+v", got.Hosts, h)
	}
	if l := []plan.Link{{A: "A", B: "core", AB: 1e9, BA: 1e9}, {A: "b1", B: "core", AB: 1e6, BA: 2e6}}; !slices.Equal(got.Links, l) {
		t.Errorf("%+v, want %+v", got.Links, l)
	}
	if !slices.Equal(got.Switches, []string{"core"}) {
		t.Errorf("%v", got.Switches)
	}
}
