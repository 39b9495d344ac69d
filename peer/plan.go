package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// planTimeout bounds the search for a plan. A node without one takes part as in any swarm.
const planTimeout = 30 * time.Second

var errCodedPlan = errors.New("a transfer is planned or coded: leave one of the two out")

// findPlan fetches the plan that the link names, unless it is on the disk, or nothing is fetched. If it is not found
// in planTimeout, or is invalid, the transfer continues without a plan. findPlan fails only if the run ends.
func (r *run) findPlan() error {
	rec, d := &r.state().rec, r.Description()
	if !rec.Link.Plan.Defined() || d.Plan() != nil || rec.Seed {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.ctx, planTimeout)
	defer cancel()
	err := r.fetcher.FetchPlan(ctx)
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if d.Plan() == nil {
		r.log().Warn("the transfer follows no plan: it was not found", "plan", rec.Link.Plan.String(), "error", err)
	}
	r.setWaiting("")
	return nil
}

// planStatus returns the status of the plan, nil if the transfer follows none.
func planStatus(n *Node, s *state) *PlanStatus {
	id, p := s.rec.Link.Plan, s.desc.Plan()
	if !id.Defined() {
		return nil
	}
	st := &PlanStatus{ID: id.String(), Known: p != nil, Host: n.planHost.in(p)}
	st.In = p != nil && p.Index(st.Host) >= 0
	return st
}

// planHost is the node's host in plans.
type planHost struct{ name, id string }

// in returns the name of the host in a plan, which may be nil. A plan made from a topology that a swarm measured
// names hosts by the peer ids of their nodes.
func (h planHost) in(p *plan.Plan) string {
	if p != nil && p.Index(h.name) < 0 && p.Index(h.id) >= 0 {
		return h.id
	}
	return h.name
}

// encode returns the document of a plan that begins at the host.
func (h planHost) encode(p *plan.Plan) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if source := p.Hosts[0]; source != h.in(p) {
		return nil, fmt.Errorf("the plan begins at the host %s, and this node is the host %s", source, h.name)
	}
	return p.Document().Encode()
}
