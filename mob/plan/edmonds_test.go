package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestEdmondsReachesTheBound requires the sum of the trees to be the bound in meshes.
func TestEdmondsReachesTheBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		topology := drawMesh(rng, 2+rng.IntN(6))
		if slices.ContainsFunc(topology.Links, func(l Link) bool { return l.AB == 0 }) || !fullMesh(topology) {
			continue
		}
		n, sum := network(t, topology), 0.0
		for _, tree := range mustPlan(t, n, "edmonds", topology.Hosts[0].Name).Trees {
			sum += tree.Rate
		}
		if want := boundOf(topology); math.Abs(sum-want) > 1e-5*want {
			t.Fatalf("the trees have %v, the bound is %v: %+v", sum, want, topology)
		}
	}
}

// fullMesh reports whether every two clusters of a topology have a link.
func fullMesh(t *Topology) bool {
	n := len(slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, h := range t.Hosts {
			if !yield(h.Cluster) {
				return
			}
		}
	})))
	return len(t.Links) == n*(n-1)/2
}

// TestEdmondsWithInterfaces uses sites whose hosts send and receive little more than the bound: the
// trees must spread what leaves a site over its hosts.
func TestEdmondsWithInterfaces(t *testing.T) {
	t.Parallel()
	topology := new(Topology)
	for _, c := range "ABCD" {
		for h := range 4 {
			host := Host{Name: fmt.Sprintf("%c%d", c, h), Cluster: string(c), Send: 12.5, Receive: 12.5}
			topology.Hosts = append(topology.Hosts, host)
		}
	}
	for _, l := range []string{"AB3", "AC3", "AD6", "BC6", "BD3", "CD3"} {
		r := float64(l[2] - '0')
		topology.Links = append(topology.Links, Link{l[:1], l[1:2], r, r})
	}
	n := network(t, topology)
	p, sum := mustPlan(t, n, "edmonds", "A0"), 0.0
	for _, tree := range p.Trees {
		sum += tree.Rate
	}
	if math.Abs(sum-12) > 1e-6 {
		t.Errorf("the trees have %v, the bound is 12", sum)
	}
	checkLoad(t, n, "edmonds", p)
}

func TestEdmondsOfManySites(t *testing.T) {
	t.Parallel()
	topology := &Topology{Switches: []string{"core"}}
	for i := range maxSites + 1 {
		topology.Hosts = append(topology.Hosts, Host{Name: fmt.Sprint("h", i)})
		topology.Links = append(topology.Links, Link{fmt.Sprint("h", i), "core", 1, 1})
	}
	_, err := network(t, topology).Plan("edmonds", "h0", nil, 0)
	if want := "65 sites are too many for edmonds, which plans for at most 64"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
