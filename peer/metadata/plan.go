package metadata

import (
	"context"
	"errors"
	"fmt"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

// errNoPlan is returned if a link names no plan.
var errNoPlan = errors.New("the transfer follows no plan")

// Follow names the plan of the transfer, by its content id. It is called before any other method.
func (d *Description) Follow(id cid.Cid) { d.planID = id }

// Plan returns the plan, nil if there is none or it is not known yet.
func (d *Description) Plan() *plan.Plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.plan
}

// SetPlan checks an encoded plan against its content id and keeps it. It fails with a finalError if
// the document matches the id and is invalid. If writing the file fails, the plan is set nevertheless.
func (d *Description) SetPlan(b []byte) error {
	if !d.planID.Defined() {
		return errNoPlan
	}
	document, err := proto.DecodePlan(d.planID, b)
	if err != nil {
		return err
	}
	p, err := plan.Read(document)
	if err != nil {
		return &finalError{err}
	}
	err = d.write(PlanFile, b)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plan, d.documents[PlanFile] = p, b
	return err
}

// FetchPlan fetches the plan that the link names. It blocks until a member has it or ctx ends, and fails
// if the plan is invalid.
func (f *Fetcher) FetchPlan(ctx context.Context) error {
	s := &search{Fetcher: f, protocol: proto.PlanProtocol, limit: proto.MaxPlan, keys: []cid.Cid{f.Link.Plan}, take: f.Description.SetPlan}
	s.members = func(ctx context.Context) []peer.AddrInfo {
		members, _, excluded := f.askTrackers(ctx)
		s.excluded = excluded
		return f.candidates(members)
	}
	s.failed = func(err error) { f.Status(fmt.Sprintf("looking for the plan of the transfer: %v", err)) }
	s.pause, s.pauseMax = fetchPause, fetchPauseMax
	return s.run(ctx)
}
