package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/cli/topology"
	"github.com/mobgrid/mob/mob/plan"
)

// FuzzMakePlan checks that any topology gives a plan, or an error in one line.
func FuzzMakePlan(f *testing.F) {
	mesh, err := os.ReadFile("../../docs/topologies/mesh.toml")
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
		topology, err := topology.Parse(text)
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
			r.print(term.NewTextWriter(io.Discard))
			if err := r.dot(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
