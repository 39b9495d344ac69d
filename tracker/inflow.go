package tracker

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// maxMemberFlows bounds the clusters from which a member's payload is counted, those that sent most. It
// bounds the table's memory.
const maxMemberFlows = 16

// maxBytes bounds what a member may say that it received, in bytes, so that no sum overflows.
const maxBytes = 1 << 48

// copiesUnit is how copies are counted: in millionths, so that a sum that is added to and subtracted from
// stays exact.
const copiesUnit = 1_000_000

// inflow is what a member says that it received.
type inflow struct {
	at     time.Time
	copies copies
	flows  []flow
}

// copies is how often the content came into the groups that the member is in, from the site on, in
// parts of it: see copiesUnit.
type copies [proto.MaxClusterParts]uint64

// flow is payload from one cluster, in bytes, and the mean rate in bytes per second between the last two
// announces.
type flow struct {
	from  string
	bytes uint64
	rate  uint64
}

// inflowSum is what the members of a cluster received.
type inflowSum struct {
	copies copies
	from   map[string]*flow // by cluster, none without bytes
}

// count adds a member's inflow to the sum (sign 1) or subtracts it (sign -1).
func (s *inflowSum) count(in *inflow, sign int) {
	if in == nil {
		return
	}
	if s.from == nil {
		s.from = map[string]*flow{}
	}
	n := uint64(sign)
	for i := range in.copies {
		s.copies[i] += n * in.copies[i]
	}
	for _, f := range in.flows {
		sum := s.from[f.from]
		if sum == nil {
			sum = &flow{from: f.from}
			s.from[f.from] = sum
		}
		sum.bytes += n * f.bytes
		sum.rate += n * f.rate
		if sum.bytes == 0 {
			delete(s.from, f.from)
		}
	}
}

// received updates what a member of a swarm received, if both are known. A member that lies changes the
// figures of its own cluster, until it leaves or expires. Clusters that are not of the swarm are left out.
func (t *table) received(now time.Time, id proto.PeerID, key []byte, r *proto.Received) {
	m := t.member(now, key, id)
	if m == nil {
		return
	}
	in := &inflow{at: t.now, copies: copiesOf(m.cluster.name, r)}
	for _, f := range r.Flows {
		if from := m.swarm.find(f.Cluster); from != nil && f.Bytes > 0 {
			in.addFlow(flow{from: from.name, bytes: min(f.Bytes, maxBytes)})
		}
	}
	in.setRates(m.inflow)
	m.cluster.inflow.count(m.inflow, -1)
	m.inflow = in
	m.cluster.inflow.count(in, 1)
}

// copiesOf returns the copies that a member of a cluster received.
func copiesOf(cluster string, r *proto.Received) (c copies) {
	if r.Length == 0 {
		return c
	}
	parts := proto.ClusterParts(cluster)
	var from copies // by how many parts the clusters of the senders share with the member's
	from[0] = min(r.WAN, maxBytes)
	for _, f := range r.Flows {
		if shared := proto.SharedParts(cluster, f.Cluster); shared > 0 && shared < parts {
			from[shared] += min(f.Bytes, maxBytes)
		}
	}
	var in uint64 // from outside of the group
	for i := range parts {
		in += from[i]
		c[i] = min(uint64(float64(in)/float64(r.Length)*copiesUnit), maxBytes)
	}
	return c
}

// addFlow adds a flow, in place of the least one when there are too many.
func (in *inflow) addFlow(f flow) {
	if len(in.flows) < maxMemberFlows {
		in.flows = append(in.flows, f)
		return
	}
	least := 0
	for i := range in.flows {
		if in.flows[i].bytes < in.flows[least].bytes {
			least = i
		}
	}
	if in.flows[least].bytes < f.bytes {
		in.flows[least] = f
	}
}

// setRates sets the rates since the inflow before, which is nil for the first. Two announces at almost the
// same time keep the rates.
func (in *inflow) setRates(before *inflow) {
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
