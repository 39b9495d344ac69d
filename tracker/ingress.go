package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// maxMemberFlows bounds the flows of a member; the largest ones are kept.
const maxMemberFlows = 16

// maxBytes bounds the bytes that a member reports, so that no sum overflows.
const maxBytes = 1 << 48

// ingress is the payload that a member reports as received.
type ingress struct {
	at     time.Time
	copies copies
	flows  []flow
}

// copies is the number of times that the content entered each group of the member, from the site on.
type copies [proto.MaxClusterParts]float64

// flow is payload from one cluster, in bytes, and the mean rate in bytes per second between the last two
// announces.
type flow struct {
	from  string
	bytes uint64
	rate  uint64
}

// received updates the ingress of a member, if it is known. Wrong values affect its own cluster only, until
// it leaves or expires. Flows from clusters outside the swarm are ignored.
func (t *table) received(now time.Time, id proto.PeerID, key []byte, r *proto.Received) {
	m := t.member(now, key, id)
	if m == nil {
		return
	}
	in := &ingress{at: t.now, copies: copiesOf(m.cluster.name, r)}
	for _, f := range r.Flows {
		if from := m.swarm.find(f.Cluster); from != nil && f.Bytes > 0 {
			in.flows = append(in.flows, flow{from: from.name, bytes: min(f.Bytes, maxBytes)})
		}
	}
	slices.SortStableFunc(in.flows, func(a, b flow) int { return cmp.Compare(b.bytes, a.bytes) })
	in.flows = slices.Clone(in.flows[:min(len(in.flows), maxMemberFlows)])
	in.setRates(m.ingress)
	m.ingress = in
}

func copiesOf(cluster string, r *proto.Received) (c copies) {
	if r.Length == 0 {
		return c
	}
	parts := proto.ClusterParts(cluster)
	var from [proto.MaxClusterParts]uint64 // by how many parts the clusters of the senders share with the member's
	from[0] = min(r.WAN, maxBytes)
	for _, f := range r.Flows {
		if shared := proto.SharedParts(cluster, f.Cluster); shared > 0 && shared < parts {
			from[shared] += min(f.Bytes, maxBytes)
		}
	}
	var in uint64 // from outside of the group
	for i := range parts {
		in += from[i]
		c[i] = float64(in) / float64(r.Length)
	}
	return c
}

// setRates sets the rates since the ingress before, which is nil for the first. Two announces at almost the
// same time keep the rates.
func (in *ingress) setRates(before *ingress) {
	if before == nil {
		return
	}
	dt := in.at.Sub(before.at)
	for i := range in.flows {
		f := &in.flows[i]
		for _, old := range before.flows {
			switch {
			case old.from != f.from:
			case dt < time.Second:
				f.rate = old.rate
			case f.bytes > old.bytes:
				f.rate = uint64(float64(f.bytes-old.bytes) / dt.Seconds())
			}
		}
	}
	if dt < time.Second {
		in.at = before.at // or the rates would be kept for ever
	}
}
