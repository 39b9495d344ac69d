package bench

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// ParseClusters parses the sizes of clusters: "4x16" is four of 16 nodes, "4,12" one of 4
// and one of 12, "20" one of 20. Sizes of racks are in parentheses: "2x(4x5)" is two
// clusters of four racks of 5, "4,(3,5)" one of 4 nodes and one with racks of 3 and of 5.
// Clusters are named A, B, C and so on.
func ParseClusters(s string) ([]netns.Cluster, error) {
	var all []netns.Cluster
	racks := 0
	ok := eachSize(s, func(times, nodes int, inner string) bool {
		c := netns.Cluster{Nodes: nodes}
		valid := inner == "" || eachSize(inner, func(times, nodes int, inner string) bool {
			c.Racks = append(c.Racks, slices.Repeat([]int{nodes}, times)...)
			c.Nodes += times * nodes
			return inner == "" && len(c.Racks) <= mostClusters
		})
		if racks += times * len(c.Racks); !valid || len(all)+times+racks > mostClusters {
			return false
		}
		for range times {
			c.Name = clusterName(len(all))
			all = append(all, c)
		}
		return true
	})
	if !ok {
		return nil, fmt.Errorf("invalid clusters %q: must be such as 4x16 (four of 16 nodes), 4,12,16 or 2x(4x5) (two of four racks of 5)", s)
	}
	return all, nil
}

// The limits of ParseClusters: a mistyped number does not fill the memory.
const mostClusters, mostNodes = 10000, 100000

// eachSize calls f for each item of a list such as 4x16 or 2x(4x5), with the number of times, and the nodes
// or the text in parentheses. It reports whether the list is valid and f returned true for all items.
func eachSize(s string, f func(times, nodes int, inner string) bool) bool {
	var read []string
	for _, m := range regexp.MustCompile(`(?:(\d+)x)?(?:(\d+)|\(([^()]+)\))`).FindAllStringSubmatch(s, -1) {
		read = append(read, m[0])
		times, err1 := strconv.Atoi(cmp.Or(m[1], "1"))
		nodes, err2 := strconv.Atoi(cmp.Or(m[2], "0"))
		if err1 != nil || err2 != nil || times < 1 || times > 1000 || nodes > mostNodes || m[3] == "" && nodes < 1 || !f(times, nodes, m[3]) {
			return false
		}
	}
	return read != nil && strings.Join(read, ",") == s
}

// shape is the sizes of the clusters, as ParseClusters parses them.
func (c *Case) shape() string {
	var parts []string
	for _, cl := range c.Clusters {
		part := strconv.Itoa(cl.Nodes)
		if len(cl.Racks) > 0 {
			var sizes []string
			for _, n := range cl.Racks {
				sizes = append(sizes, strconv.Itoa(n))
			}
			part = "(" + times(sizes) + ")"
		}
		parts = append(parts, part)
	}
	return times(parts)
}

// times lists sizes, or only the first with their number if there are several and all are alike.
func times(sizes []string) string {
	for _, s := range sizes {
		if s != sizes[0] || len(sizes) == 1 {
			return strings.Join(sizes, ",")
		}
	}
	return fmt.Sprintf("%dx%s", len(sizes), sizes[0])
}

// clusterName is the name of the i-th cluster: A to Z, then AA, AB and so on.
func clusterName(i int) string {
	name := string(rune('A' + i%26))
	if i >= 26 {
		name = clusterName(i/26-1) + name
	}
	return name
}
