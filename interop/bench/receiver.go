package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// Receiver names a node that gets a copy.
type Receiver struct {
	Cluster string
	Index   int
}

// ParseReceiver parses a name such as C2: node 2, counted from 0, of cluster C.
func ParseReceiver(s string) (Receiver, error) {
	digits := len(strings.TrimRight(s, "0123456789"))
	n, err := strconv.Atoi(s[digits:])
	if err != nil || digits == 0 {
		return Receiver{}, fmt.Errorf("invalid node %q: must be such as C2", s)
	}
	return Receiver{s[:digits], n}, nil
}

// String is the name that ParseReceiver parses.
func (r Receiver) String() string { return r.Cluster + strconv.Itoa(r.Index) }

// Receivers lists all nodes but the source, cluster by cluster.
func (c *Case) Receivers() []Receiver {
	var all []Receiver
	for i, cl := range c.Clusters {
		for n := range cl.Nodes {
			if i > 0 || n > 0 {
				all = append(all, Receiver{cl.Name, n})
			}
		}
	}
	return all
}

// Slow reports whether a receiver has its own NIC rate. It gets a copy too, but runs do
// not wait for it.
func (c *Case) Slow(r Receiver) bool {
	i := slices.IndexFunc(c.Clusters, func(cl netns.Cluster) bool { return cl.Name == r.Cluster })
	_, slow := c.Clusters[i].SlowNIC[r.Index]
	return slow
}
