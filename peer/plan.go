package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

// planTimeout bounds the search for a plan. A node without one takes part as in any swarm.
const planTimeout = 30 * time.Second

var errCodedPlan = errors.New("a transfer is planned or coded: leave one of the two out")

// planID returns the content id of an encoded plan, undefined without one.
func planID(b []byte) cid.Cid {
	if b == nil {
		return cid.Undef
	}
	return proto.PlanCID(b)
}

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
	st := &PlanStatus{ID: id.String(), Known: p != nil, Host: n.hostIn(p)}
	st.In = p != nil && p.Index(st.Host) >= 0
	return st
}

// hostIn returns the name of the node's host in a plan, which may be nil. A plan made from a topology that a swarm measured
// names hosts by the peer ids of their nodes.
func (n *Node) hostIn(p *plan.Plan) string {
	if id := n.host.ID().String(); p != nil && p.Index(n.cfg.Host) < 0 && p.Index(id) >= 0 {
		return id
	}
	return n.cfg.Host
}

// encodePlan returns the document of a plan that begins at the node's host.
func (n *Node) encodePlan(p *plan.Plan) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if source := p.Hosts[0]; source != n.hostIn(p) {
		return nil, fmt.Errorf("the plan begins at the host %s, and this node is the host %s", source, n.cfg.Host)
	}
	return p.Document().Encode()
}
