package transfer

import (
	"fmt"
	"slices"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/cli/topology"
	"github.com/mobgrid/mob/mob/plan"
)

// readNetwork returns the topology that --plan plans for, nil without it.
func (f *seedFlags) readNetwork() (*plan.Topology, *plan.Network, error) {
	if f.content.Plan == "" {
		return nil, nil, nil
	}
	t, err := topology.Read(f.topology)
	if err != nil {
		return nil, nil, err
	}
	n, err := plan.NewNetwork(t)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.topology, err)
	}
	return t, n, nil
}

// makePlan returns the encoded plan of a broadcast from the host of a node, which the topology may name by
// the node's id.
func (f *seedFlags) makePlan(t *plan.Topology, n *plan.Network, node *control.Info) ([]byte, error) {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Hosts, func(h plan.Host) bool { return h.Name == name })
	}
	source := node.Host
	if !has(source) && has(node.ID) {
		source = node.ID
	}
	p, err := n.Plan(f.content.Plan, source, nil, 1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (the node is the host %s: its --host names it)", f.topology, err, source)
	}
	return p.Document().Encode()
}
