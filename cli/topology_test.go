package cli

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/mob/plan"
)

func TestParseTopology(t *testing.T) {
	t.Parallel()
	got, err := parseTopology([]byte(`
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

// FuzzMakePlan wants any topology to be planned for, or one line that says what is wrong.
func FuzzMakePlan(f *testing.F) {
	mesh, err := os.ReadFile("../docs/topologies/mesh.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(mesh, uint8(0))
	f.Add([]byte("[[host]]\nname = 'a[1,99999999999999999999'\ncluster='A'\nsend='1MB'\n[[host]]\nname='b]-\"/3'\ncluster='A'"), uint8(1))
	f.Add([]byte("[[host]]\nname = '\x00'"), uint8(2))
	f.Add([]byte("[[link]]\na = 'x\\u001b'\nb = 'y'\nrate='5'"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, algorithm uint8) {
		if len(text) > 1<<14 {
			return
		}
		topology, err := parseTopology(text)
		var r *planReport
		if err == nil && len(topology.Hosts) > 0 {
			all := plan.Algorithms()
			source := topology.Hosts[int(algorithm)%len(topology.Hosts)].Name
			r, err = makePlan(topology, source, all[int(algorithm)%len(all)], 1)
		}
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Errorf("an error of several lines, or that moves the cursor: %q", err)
			}
		} else if r != nil {
			if err := r.print(io.Discard); err != nil {
				t.Error(err)
			}
			if err := r.dot(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
