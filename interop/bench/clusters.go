package bench

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// ParseClusters parses the sizes of clusters: "4x16" is four of 16 nodes, "4,12" one of 4
// and one of 12, "20" one of 20. They are named A, B, C and so on.
func ParseClusters(s string) ([]netns.Cluster, error) {
	var sizes []int
	for part := range strings.SplitSeq(s, ",") {
		times, each, ok := strings.Cut(part, "x")
		if !ok {
			times, each = "1", part
		}
		n, err1 := strconv.Atoi(times)
		nodes, err2 := strconv.Atoi(each)
		if err1 != nil || err2 != nil || n < 1 || nodes < 1 || n > 1000 || nodes > 100000 {
			return nil, fmt.Errorf("%q are no clusters such as 4x16 (four of 16 nodes) or 4,12,16", s)
		}
		for range n {
			sizes = append(sizes, nodes)
		}
	}
	all := make([]netns.Cluster, len(sizes))
	for i, n := range sizes {
		all[i] = netns.Cluster{Name: clusterName(i), Nodes: n}
	}
	return all, nil
}

// clusterName is the name of the i-th cluster: A to Z, then AA, AB and so on.
func clusterName(i int) string {
	name := string(rune('A' + i%26))
	if i >= 26 {
		name = clusterName(i/26-1) + name
	}
	return name
}
