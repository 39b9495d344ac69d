package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// ParseClusters parses the sizes of clusters: "4x16" is four of 16 nodes, "4,12" one of 4
// and one of 12, "20" one of 20. Sizes of racks are in parentheses: "2x(4x5)" is two
// clusters of four racks of 5, "4,(3,5)" one of 4 nodes and one with racks of 3 and of 5.
// Clusters are named A, B, C and so on.
func ParseClusters(s string) ([]netns.Cluster, error) {
	wrong := fmt.Errorf("%q are no clusters such as 4x16 (four of 16 nodes), 4,12,16 or 2x(4x5) (two of four racks of 5)", s)
	var all []netns.Cluster
	count := 0 // of clusters and racks
	for _, item := range splitOutside(s) {
		times, each := 1, item
		if n, rest, ok := strings.Cut(item, "x("); ok {
			var err error
			times, err = strconv.Atoi(n)
			if err != nil {
				return nil, wrong
			}
			each = "(" + rest
		}
		inner, racked := strings.CutPrefix(each, "(")
		inner, closed := strings.CutSuffix(inner, ")")
		sizes := parseSizes(inner)
		if racked != closed || len(sizes) == 0 || times < 1 || times > mostClusters {
			return nil, wrong
		}
		if count += times * len(sizes); count > mostClusters {
			return nil, wrong
		}
		for range times {
			all = append(all, clustersOf(sizes, racked)...)
		}
	}
	for i := range all {
		all[i].Name = clusterName(i)
	}
	return all, nil
}

// The most that ParseClusters makes: a mistyped number does not fill the memory.
const mostClusters, mostNodes = 10000, 100000

// splitOutside splits at commas that are not in parentheses.
func splitOutside(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// parseSizes parses numbers of nodes, such as 4x16 or 4,12; nil if they are none.
func parseSizes(s string) []int {
	var sizes []int
	for part := range strings.SplitSeq(s, ",") {
		times, each, ok := strings.Cut(part, "x")
		if !ok {
			times, each = "1", part
		}
		n, err1 := strconv.Atoi(times)
		nodes, err2 := strconv.Atoi(each)
		if err1 != nil || err2 != nil || n < 1 || nodes < 1 || n > 1000 || nodes > mostNodes {
			return nil
		}
		for range n {
			sizes = append(sizes, nodes)
		}
	}
	return sizes
}

// clustersOf is a cluster for each size, or one with a rack for each.
func clustersOf(sizes []int, racked bool) []netns.Cluster {
	if racked {
		c := netns.Cluster{Racks: sizes}
		for _, n := range sizes {
			c.Nodes += n
		}
		return []netns.Cluster{c}
	}
	all := make([]netns.Cluster, len(sizes))
	for i, n := range sizes {
		all[i].Nodes = n
	}
	return all
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
