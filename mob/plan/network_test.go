package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// drawTree makes a tree of switches with hosts at them, with rates from 1 to 9: the same both ways
// if it is symmetric.
func drawTree(rng *rand.Rand, switches, hosts int, symmetric bool) *Topology {
	t := new(Topology)
	rates := func() (a, b float64) {
		a, b = float64(1+rng.IntN(9)), float64(1+rng.IntN(9))
		if symmetric {
			b = a
		}
		return a, b
	}
	for s := range switches {
		t.Switches = append(t.Switches, fmt.Sprint("s", s))
		if s > 0 {
			ab, ba := rates()
			t.Links = append(t.Links, Link{t.Switches[rng.IntN(s)], t.Switches[s], ab, ba})
		}
	}
	for h := range hosts {
		host := Host{Name: fmt.Sprint("h", h)}
		if rng.IntN(4) == 0 {
			host.Send, host.Receive = rates()
		}
		t.Hosts = append(t.Hosts, host)
		ab, ba := rates()
		t.Links = append(t.Links, Link{host.Name, t.Switches[rng.IntN(switches)], ab, ba})
	}
	return t
}

// drawMesh links every two clusters, of one to four hosts, at a rate from 1 to 9, or not at all if
// that is 0 and they stay connected by the ring.
func drawMesh(rng *rand.Rand, clusters int) *Topology {
	t := new(Topology)
	for c := range clusters {
		for h := range 1 + rng.IntN(4) {
			t.Hosts = append(t.Hosts, Host{Name: fmt.Sprintf("%c%d", 'a'+c, h), Cluster: string(rune('A' + c))})
		}
	}
	for a := range clusters {
		for b := range a {
			r := float64(rng.IntN(10))
			if r == 0 && a == b+1 {
				r = 1
			}
			if r > 0 {
				t.Links = append(t.Links, Link{string(rune('A' + a)), string(rune('A' + b)), r, r})
			}
		}
	}
	return t
}

// drawHosts links hosts with each other, without switches, some of them one way only nearly.
func drawHosts(rng *rand.Rand, hosts int, interfaces bool) *Topology {
	t := new(Topology)
	for a := range hosts {
		h := Host{Name: fmt.Sprint("h", a)}
		if interfaces {
			h.Send, h.Receive = float64(1+rng.IntN(9)), float64(1+rng.IntN(9))
		}
		t.Hosts = append(t.Hosts, h)
		for b := range a {
			if a == b+1 || rng.IntN(4) > 0 {
				t.Links = append(t.Links, Link{fmt.Sprint("h", a), fmt.Sprint("h", b), float64(1 + rng.IntN(9)), float64(1 + rng.IntN(9))})
			}
		}
	}
	return t
}

func network(t testing.TB, topology *Topology) *Network {
	t.Helper()
	n, err := NewNetwork(topology)
	if err != nil {
		t.Fatalf("%v: %+v", err, topology)
	}
	return n
}

// pathsIn returns the links on the way between any two nodes of a tree, worked out from the topology.
func pathsIn(t *Topology) func(from, to string) []string {
	next := make(map[string][]string)
	for _, l := range t.Links {
		next[l.A], next[l.B] = append(next[l.A], l.B), append(next[l.B], l.A)
	}
	var walk func(at, before, to string) []string
	walk = func(at, before, to string) []string {
		if at == to {
			return []string{}
		}
		for _, n := range next[at] {
			if n == before {
				continue
			}
			if rest := walk(n, at, to); rest != nil {
				return append([]string{at + "-" + n}, rest...)
			}
		}
		return nil
	}
	return func(from, to string) []string {
		all := append(walk(from, "", to), from+" sends", to+" receives")
		slices.Sort(all)
		return all
	}
}

// ratesIn returns the rates of all limits of a topology, by name.
func ratesIn(t *Topology) map[string]float64 {
	rates := make(map[string]float64)
	for _, l := range t.Links {
		rates[l.A+"-"+l.B], rates[l.B+"-"+l.A] = unlimited(l.AB), unlimited(l.BA)
	}
	for _, h := range t.Hosts {
		rates[h.Name+" sends"], rates[h.Name+" receives"] = unlimited(h.Send), unlimited(h.Receive)
	}
	return rates
}

func TestRouteInTree(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		topology := drawTree(rng, 1+rng.IntN(8), 2+rng.IntN(8), false)
		n, paths, rates := network(t, topology), pathsIn(topology), ratesIn(topology)
		for a := range topology.Hosts {
			for b := range topology.Hosts {
				if a == b {
					continue
				}
				limits, ok := n.route(int32(a), int32(b), nil)
				var got []string
				for _, l := range limits {
					got = append(got, n.limitName(l))
				}
				slices.Sort(got)
				want := slices.DeleteFunc(paths(n.names[a], n.names[b]), func(l string) bool { return math.IsInf(rates[l], 1) })
				if !ok || !slices.Equal(got, want) {
					t.Fatalf("%s to %s: %v, want %v", n.names[a], n.names[b], got, want)
				}
			}
		}
	}
}

// TestRouteInMesh requires the fewest links, and of several routes the widest; and none through hosts.
func TestRouteInMesh(t *testing.T) {
	t.Parallel()
	n := network(t, &Topology{
		Hosts: []Host{{Name: "a"}, {Name: "b"}, {Name: "relay"}},
		Links: []Link{
			{"a", "s1", 9, 9}, {"b", "s2", 9, 9},
			{"s1", "narrow", 1, 1}, {"narrow", "s2", 9, 9},
			{"s1", "wide", 5, 5}, {"wide", "s2", 6, 6},
			{"s1", "relay", 8, 8}, {"relay", "s2", 8, 8},
			{"s1", "far", 8, 8}, {"far", "farther", 8, 8}, {"farther", "s2", 8, 8},
		},
		Switches: []string{"s1", "s2", "narrow", "wide", "far", "farther"},
	})
	limits, _ := n.route(0, 1, nil)
	var got []string
	for _, l := range limits {
		got = append(got, n.limitName(l))
	}
	if want := "a-s1 s2-b wide-s2 s1-wide"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestClusterSwitches uses hosts and racks that no link names hang from the switches of their groups.
func TestClusterSwitches(t *testing.T) {
	t.Parallel()
	n := network(t, &Topology{
		Hosts: []Host{
			{Name: "a1", Cluster: "A/r1"}, {Name: "a2", Cluster: "A/r2", Send: 7}, {Name: "a3", Cluster: "A"},
			{Name: "b1", Cluster: "B"}, {Name: "b2", Cluster: "B"},
		},
		Links: []Link{{"A", "B", 3, 4}, {"A/r2", "A", 5, 6}, {"b2", "B", 1, 2}},
	})
	for _, c := range []struct{ from, to, want string }{
		{"a1", "a3", ""},
		{"a1", "b1", "A-B"},
		{"b1", "a1", "B-A"},
		{"a2", "a1", "a2 sends A/r2-A"},
		{"a1", "a2", "A-A/r2"},
		{"b1", "b2", "B-b2"},
		{"b2", "a2", "b2-B A-A/r2 B-A"},
	} {
		limits, ok := n.route(int32(n.nodes[c.from]), int32(n.nodes[c.to]), nil)
		var got []string
		for _, l := range limits {
			got = append(got, n.limitName(l))
		}
		if strings.Join(got, " ") != c.want || !ok {
			t.Errorf("%s to %s: %v, want %s", c.from, c.to, got, c.want)
		}
	}
}

func TestNetworkFaults(t *testing.T) {
	t.Parallel()
	many := &Topology{}
	for i := range 10_001 {
		many.Hosts = append(many.Hosts, Host{Name: fmt.Sprint("h", i), Cluster: "A"})
	}
	wide := &Topology{}
	for i := range 9000 { // each with two links, so with routes of its own
		wide.Hosts = append(wide.Hosts, Host{Name: fmt.Sprint("h", i)})
		wide.Links = append(wide.Links, Link{fmt.Sprint("h", i), "s", 1, 1}, Link{fmt.Sprint("h", i), "z", 1, 1})
	}
	wide.Switches = []string{"s", "z"}
	ab := []Host{{Name: "a"}, {Name: "b"}}
	for _, c := range []struct {
		topology *Topology
		want     string
	}{
		{&Topology{}, "the topology has no hosts"},
		{many, "10001 hosts: at most 10000 can be planned for"},
		{wide, "the topology is too large"},
		{&Topology{Hosts: []Host{{}}}, "host"},
		{&Topology{Hosts: []Host{{Name: "a"}, {Name: "a"}}}, "there are two hosts a"},
		{&Topology{Hosts: []Host{{Name: "a", Cluster: "a"}}}, "a is the name of a host and of a cluster"},
		{&Topology{Hosts: []Host{{Name: "a", Cluster: "A//B"}}}, `host a: cluster name "A//B"`},
		{&Topology{Hosts: []Host{{Name: "a", Send: -1}}}, "host a: rate -1 is not more than 0"},
		{&Topology{Hosts: []Host{{Name: "a", Receive: math.NaN()}}}, "host a: rate NaN"},
		{&Topology{Hosts: ab, Switches: []string{"a"}}, `switch "a": there is another switch or host`},
		{&Topology{Hosts: ab, Switches: []string{"s", "s"}}, `switch "s": there is another switch or host`},
		{&Topology{Hosts: ab, Links: []Link{{"a", "a", 1, 1}}}, `link "a-a" leads to where it begins`},
		{&Topology{Hosts: ab, Links: []Link{{"a", "b", 1, 1}, {"b", "a", 1, 1}}}, `duplicate link "b-a"`},
		{&Topology{Hosts: ab, Links: []Link{{"a", "b", 1, math.Inf(1)}}}, `link "a-b": rate +Inf`},
		{&Topology{Hosts: ab, Links: []Link{{"a", "c", 1, 1}}}, `link "a-c": no host, switch or cluster is called "c"`},
		{&Topology{Hosts: ab}, "the topology is not connected: no links lead from a to b"},
		{&Topology{Hosts: []Host{{Name: "a", Cluster: "A"}, {Name: "b", Cluster: "B"}}}, "is not connected"},
	} {
		if _, err := NewNetwork(c.topology); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestCuts requires min-cuts that agree with the narrowest links in a tree, and with Bound.
func TestCuts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		topology := drawTree(rng, 1+rng.IntN(8), 2+rng.IntN(8), false)
		n, paths, rates := network(t, topology), pathsIn(topology), ratesIn(topology)
		cuts, err := n.Cuts("h0")
		if err != nil {
			t.Fatal(err)
		}
		for h := range topology.Hosts[1:] {
			want := math.Inf(1)
			for _, l := range paths("h0", n.names[h+1]) {
				want = min(want, rates[l])
			}
			if c := cuts[h+1]; c.Rate != want || len(c.Limits) != 1 || rates[c.Limits[0]] != want {
				t.Fatalf("%s: %v, want %v", n.names[h+1], c, want)
			}
		}
	}
	for range 100 {
		topology := drawHosts(rng, 2+rng.IntN(5), false)
		cuts, err := network(t, topology).Cuts("h0")
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		rates := ratesIn(topology)
		for _, c := range cuts[1:] {
			least = min(least, c.Rate)
			sum := 0.0
			for _, l := range c.Limits {
				sum += rates[l]
			}
			if math.Abs(sum-c.Rate) > 1e-6 {
				t.Errorf("the links %v have %v, not %v", c.Limits, sum, c.Rate)
			}
		}
		if want := boundOf(topology); math.Abs(least-want) > 1e-6*want {
			t.Errorf("the least cut is %v, want %v", least, want)
		}
	}
}
