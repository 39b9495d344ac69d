package swarm

import (
	"fmt"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// What is told of the sources fits its message, whatever the peers say that they are.
func TestSourcesAreBounded(t *testing.T) {
	t.Parallel()
	var s sources
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
	flows := s.flows()
	frame, err := proto.AppendFrame(nil, &proto.Received{Length: 1 << 62, WAN: 1 << 62, Flows: flows})
	if err != nil || len(flows) != proto.MaxFlows || len(frame) > proto.MaxOpening {
		t.Errorf("%d flows in %d bytes: %v", len(flows), len(frame), err)
	}
}
