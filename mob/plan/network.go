package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// Network is a topology made ready to plan with: it knows the route between any two hosts. It
// does not change.
//
// A route has as few links as can be. Of several it is the widest, and of those the one whose
// links come first in the topology. Routes do not pass through hosts: these only relay.
type Network struct {
	hosts []Host
	names []string       // of nodes: hosts, then switches
	nodes map[string]int // the other way
	tree  bool           // whether the links form a tree

	// limits are links one way, and the interfaces of hosts.
	limits        []limit
	out           [][]int32 // the links out of each node
	send, receive []int32   // the interfaces of each host, -1 where there is no limit

	origin []int32           // of each host: the switch where its routes begin, or itself
	access []int32           // of each host: its link to that switch, or -1
	last   map[int32][]int32 // for each origin: the last link on the route to each node, -1 where none is
	far    map[int32][]int32 // and how many links it has
}

// limit is a link, one way, or an interface: from or to is -1 then.
type limit struct {
	from, to int32
	rate     float64 // +Inf if it is none
}

// NewNetwork makes a network of a topology. It fails with a line for whoever wrote that.
func NewNetwork(t *Topology) (*Network, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	n := &Network{
		hosts: slices.Clone(t.Hosts), nodes: make(map[string]int),
		last: make(map[int32][]int32), far: make(map[int32][]int32),
	}
	for _, h := range t.Hosts {
		if _, ok := n.nodes[h.Name]; ok {
			return nil, fmt.Errorf("there are two hosts %s", h.Name)
		}
		n.node(h.Name)
	}
	for _, s := range t.Switches {
		if _, ok := n.nodes[s]; ok || s == "" {
			return nil, fmt.Errorf("switch %q: there is another switch or host of that name, or it has none", s)
		}
		n.node(s)
	}
	groups, err := n.groups()
	if err != nil {
		return nil, err
	}
	named := make(map[string]bool)
	for _, l := range t.Links {
		if err := n.link(l, groups); err != nil {
			return nil, err
		}
		named[l.A], named[l.B] = true, true
	}
	n.hang(groups, named)
	links := len(n.limits)
	n.addInterfaces()
	if err := n.findRoutes(); err != nil {
		return nil, err
	}
	return n, n.checkConnected(links)
}

// node returns the number of a node, which is a new one if the name is new.
func (n *Network) node(name string) int {
	i, ok := n.nodes[name]
	if !ok {
		i = len(n.names)
		n.names, n.out, n.nodes[name] = append(n.names, name), append(n.out, nil), i
	}
	return i
}

// groups returns the names of all clusters and of the groups that they are in.
func (n *Network) groups() (map[string]bool, error) {
	all := make(map[string]bool)
	for _, h := range n.hosts {
		for parts := 1; h.Cluster != "" && parts <= proto.ClusterParts(h.Cluster); parts++ {
			all[proto.ClusterGroup(h.Cluster, parts)] = true
		}
	}
	for _, h := range n.hosts {
		if all[h.Name] {
			return nil, fmt.Errorf("%s is the name of a host and of a cluster", h.Name)
		}
	}
	return all, nil
}

func (n *Network) link(l Link, groups map[string]bool) error {
	for _, name := range []string{l.A, l.B} {
		if _, ok := n.nodes[name]; !ok && !groups[name] {
			return fmt.Errorf("link %q: no host, switch or cluster is called %q", l.name(), name)
		}
	}
	n.join(n.node(l.A), n.node(l.B), unlimited(l.AB), unlimited(l.BA))
	return nil
}

func (n *Network) join(a, b int, ab, ba float64) {
	n.out[a] = append(n.out[a], int32(len(n.limits)))
	n.out[b] = append(n.out[b], int32(len(n.limits)+1))
	n.limits = append(n.limits, limit{int32(a), int32(b), ab}, limit{int32(b), int32(a), ba})
}

// hang joins the hosts and racks that no link names to the switches of their groups.
func (n *Network) hang(groups, named map[string]bool) {
	for i, h := range n.hosts {
		if !named[h.Name] && h.Cluster != "" {
			n.join(i, n.node(h.Cluster), math.Inf(1), math.Inf(1))
		}
	}
	deepest := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(proto.ClusterParts(b)-proto.ClusterParts(a), cmp.Compare(a, b))
	})
	for _, g := range deepest {
		i, used := n.nodes[g]
		if parts := proto.ClusterParts(g); used && !named[g] && parts > 1 {
			n.join(i, n.node(proto.ClusterGroup(g, parts-1)), math.Inf(1), math.Inf(1))
		}
	}
}

// addInterfaces adds the interfaces of hosts to the limits.
func (n *Network) addInterfaces() {
	for i, h := range n.hosts {
		n.send, n.receive = append(n.send, -1), append(n.receive, -1)
		if h.Send > 0 {
			n.send[i] = int32(len(n.limits))
			n.limits = append(n.limits, limit{int32(i), -1, h.Send})
		}
		if h.Receive > 0 {
			n.receive[i] = int32(len(n.limits))
			n.limits = append(n.limits, limit{-1, int32(i), h.Receive})
		}
	}
}

// limitName returns the name of a link, one way, or of an interface.
func (n *Network) limitName(i int32) string {
	switch l := n.limits[i]; {
	case l.to < 0:
		return n.names[l.from] + " sends"
	case l.from < 0:
		return n.names[l.to] + " receives"
	default:
		return n.names[l.from] + "-" + n.names[l.to]
	}
}

// isHost reports whether a node is a host.
func (n *Network) isHost(node int32) bool { return int(node) < len(n.hosts) }

// checkConnected reports an error unless the links, each counted once for each way, lead from every host to
// every other.
func (n *Network) checkConnected(links int) error {
	seen := make([]bool, len(n.names))
	seen[0] = true
	count := 1
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		for _, l := range n.out[queue[0]] {
			if to := n.limits[l].to; !seen[to] {
				seen[to] = true
				count++
				queue = append(queue, to)
			}
		}
	}
	for i, h := range n.hosts {
		if !seen[i] {
			return fmt.Errorf("the topology is not connected: no links lead from %s to %s", n.hosts[0].Name, h.Name)
		}
	}
	n.tree = links == 2*(count-1)
	return nil
}
