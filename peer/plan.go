package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// planTimeout bounds the search for a plan. A node without one takes part as in any swarm.
const planTimeout = 30 * time.Second

var errCodedPlan = errors.New("a transfer is planned or coded: leave one of the two out")

// encodePlan returns the document of a plan that this node seeds with, nil if it has none.
func (n *Node) encodePlan(opt *SeedOptions) ([]byte, error) {
	p := opt.Plan
	switch {
	case p == nil:
		return nil, nil
	case opt.Coded != 0 || opt.Strategy.Gossip():
		return nil, errCodedPlan
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if source := p.Hosts[0]; source != n.nameIn(p) {
		return nil, fmt.Errorf("the plan begins at the host %s, and this node is the host %s", source, n.cfg.Host)
	}
	return p.Document().Encode()
}

// planID returns the content id of an encoded plan, undefined without one.
func planID(b []byte) cid.Cid {
	if b == nil {
		return cid.Undef
	}
	return proto.PlanCID(b)
}

// findPlan fetches the plan that the link names, unless it is on the disk, or nothing is fetched. If nobody
// has it for long, or it is invalid, the transfer goes on without. It fails only if ctx ends.
func (t *Transfer) findPlan(ctx context.Context, finder Finder) error {
	link, d := t.Link(), t.Description()
	if !link.Plan.Defined() || d.Plan() != nil || t.record().Seed {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	err := t.fetcher(finder).FetchPlan(bounded)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d.Plan() == nil {
		t.node.log.Warn("the transfer follows no plan: it was not found", "content", t.ID.String(), "plan", link.Plan.String(),
			"error", err)
	}
	t.say("")
	return nil
}

// planStatus returns the status of the plan, nil if the transfer follows none. The caller has the lock.
func (t *Transfer) planStatus() *PlanStatus {
	id := t.mu.rec.Link.Plan
	if !id.Defined() {
		return nil
	}
	p := t.mu.desc.Plan()
	st := &PlanStatus{ID: id.String(), Host: t.node.nameIn(p)}
	if p != nil {
		st.Known, st.In = true, p.Index(st.Host) >= 0
	}
	return st
}
