package swarm

import (
	"fmt"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestSourcesAreBounded checks that the report fits its message for any names of clusters.
func TestSourcesAreBounded(t *testing.T) {
	t.Parallel()
	s := sources{own: "own"}
	if s.flows() != nil {
		t.Error("flows before any payload")
	}
	for i := range 2 * proto.MaxFlows {
		s.of(fmt.Sprintf("%064d", 2*proto.MaxFlows-i)).Add(1 << 62)
	}
	s.of("bt:192.0.2.1:6881").Add(1)
	if s.of("new") != &s.others || s.of(fmt.Sprintf("%064d", 2*proto.MaxFlows)) == &s.others {
		t.Error("a cluster has another's counter")
	}
	s.of("own").Add(1)
	flows := s.flows()
	frame, err := proto.AppendFrame(nil, &proto.Received{Length: 1 << 62, WAN: 1 << 62, Flows: flows})
	if err != nil || len(flows) != proto.MaxFlows || len(frame) > proto.MaxOpening {
		t.Errorf("%d flows in %d bytes: %v", len(flows), len(frame), err)
	}
}

// Other sites and other racks of the site are one source each, however many clusters they have. Racks beyond
// those that fit are told as of the groups that the node is in.
func TestSourcesOfRacks(t *testing.T) {
	t.Parallel()
	s := sources{own: "g/1/a"}
	for _, cluster := range []string{"l/1", "l/2", "l", "g", "g/2/x", "g/2/y", "g/1/b", "g/1/a", "g/1", "g/1/a/deep"} {
		s.of(cluster).Add(1)
	}
	want := "[{g 1} {g/1 1} {g/1/a 1} {g/1/a/deep 1} {g/1/b 1} {g/2 2} {l 3}]"
	if got := sprintFlows(s.flows()); got != want {
		t.Errorf("the flows are %s, want %s", got, want)
	}
	for i := range 2 * proto.MaxFlows {
		s.of(fmt.Sprint("g/1/", i)).Add(1)
		s.of(fmt.Sprint("g/", i+10)).Add(1)
		s.of(fmt.Sprint("site", i)).Add(1)
	}
	var sum [4]uint64
	flows := s.flows()
	for _, f := range flows {
		sum[proto.SharedParts(s.own, f.Cluster)] += f.Bytes
	}
	if sum[1] != 3+2*proto.MaxFlows || sum[2] != 2+2*proto.MaxFlows || sum[3] != 2 || len(flows) > proto.MaxFlows {
		t.Errorf("%d flows, by level %d", len(flows), sum)
	}
}

func sprintFlows(flows []proto.Flow) string {
	var out []string
	for _, f := range flows {
		out = append(out, fmt.Sprintf("{%s %d}", f.Cluster, f.Bytes))
	}
	return fmt.Sprint(out)
}
