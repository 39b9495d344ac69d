package proto

import (
	"errors"
	"fmt"

	"github.com/ipfs/go-cid"
)

// Plan is the document that lists the hosts and broadcast trees of a planned transfer. x.plan of a
// [Link] contains its id. Package mob/plan interprets it.
type Plan struct {
	// Hosts are the hosts. The first is the source.
	Hosts []PlanHost
	// Trees are the ways from the source to the hosts.
	Trees []PlanTree
}

// PlanHost is a host of a [Plan]. Cluster is empty if it is not known.
type PlanHost struct {
	_             struct{} `cbor:",toarray"`
	Name, Cluster string
}

// PlanTree is one way from the source to hosts.
type PlanTree struct {
	_ struct{} `cbor:",toarray"`
	// Rate is the rate of the tree, in bytes per second, at least 1.
	Rate uint64
	// Parents contains for each host 1 more than the index of the host that sends to it, or 0 if
	// none does, as for the source.
	Parents []uint32
}

// planVersion is the first element of an encoded plan.
const planVersion = 1

type wirePlan struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Hosts   []PlanHost
	Trees   []PlanTree
}

func (p *Plan) check() error {
	if len(p.Hosts) == 0 || len(p.Hosts) > MaxPlanHosts || len(p.Trees) > MaxPlanTrees {
		return fmt.Errorf("plan of %d hosts and %d trees, want 1 to %d hosts and at most %d trees",
			len(p.Hosts), len(p.Trees), MaxPlanHosts, MaxPlanTrees)
	}
	for _, h := range p.Hosts {
		if err := CheckHost(h.Name); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if err := CheckCluster(h.Cluster); err != nil && h.Cluster != "" {
			return fmt.Errorf("plan: host %s: %w", h.Name, err)
		}
	}
	for i, t := range p.Trees {
		if t.Rate == 0 || t.Rate > maxRate || len(t.Parents) != len(p.Hosts) {
			return fmt.Errorf("plan: tree %d: rate %d, %d parents for %d hosts", i+1, t.Rate, len(t.Parents), len(p.Hosts))
		}
		for _, parent := range t.Parents {
			if int64(parent) > int64(len(p.Hosts)) {
				return fmt.Errorf("plan: tree %d: parent %d of %d hosts", i+1, parent, len(p.Hosts))
			}
		}
	}
	return nil
}

// Encode returns the only encoding of p, whose hash is its content id. It fails if p breaks a limit.
func (p *Plan) Encode() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	b, err := encMode.Marshal(&wirePlan{Version: planVersion, Hosts: p.Hosts, Trees: p.Trees})
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if len(b) > MaxPlan {
		return nil, fmt.Errorf("plan of %d bytes, at most %d: it has too many hosts and trees", len(b), MaxPlan)
	}
	return b, nil
}

// DecodePlan checks b against the content id c, and decodes the plan in it. b may come from an
// untrusted peer.
func DecodePlan(c cid.Cid, b []byte) (*Plan, error) {
	if len(b) == 0 || len(b) > MaxPlan {
		return nil, fmt.Errorf("plan of %d bytes, want 1 to %d", len(b), MaxPlan)
	}
	if !PlanCID(b).Equals(c) {
		return nil, errors.New("plan does not match its content id")
	}
	return decodePlan(b)
}

func decodePlan(b []byte) (*Plan, error) {
	var w wirePlan
	if err := decMode.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if w.Version != planVersion {
		return nil, fmt.Errorf("plan of version %d, only %d is known", w.Version, planVersion)
	}
	if checkCBOR(b, &w) != nil {
		return nil, errors.New("plan is not in its canonical form")
	}
	p := &Plan{Hosts: w.Hosts, Trees: w.Trees}
	return p, p.check()
}

// PlanCID returns the content id of the encoded plan b, which has the form of [ManifestCID].
func PlanCID(b []byte) cid.Cid { return ManifestCID(b) }
