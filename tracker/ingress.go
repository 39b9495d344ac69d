package tracker

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// maxMemberFlows bounds the flows of a member; the largest ones are kept.
const maxMemberFlows = 16

// maxBytes bounds the bytes that a member reports, so that no sum overflows.
const maxBytes = 1 << 48

// copiesUnit is the unit of copies, a millionth, so that sums stay exact.
const copiesUnit = 1_000_000

// ingress is the payload that a member reports as received.
type ingress struct {
	at     time.Time
	copies copies
	flows  []flow
}

// copies is the number of times that the content entered each group of the member, from the site on,
// in units of copiesUnit.
type copies [proto.MaxClusterParts]uint64

// flow is payload from one cluster, in bytes, and the mean rate in bytes per second between the last two
// announces.
type flow struct {
	from  string
	bytes uint64
	rate  uint64
}

// ingressSum is the sum of the ingress of the members of a cluster.
type ingressSum struct {
	copies copies
	from   map[string]*flow // by cluster, none without bytes
}

// count adds a member's ingress to the sum (sign 1) or subtracts it (sign -1).
func (s *ingressSum) count(in *ingress, sign int) {
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
			in.addFlow(flow{from: from.name, bytes: min(f.Bytes, maxBytes)})
		}
	}
	in.setRates(m.ingress)
	m.cluster.ingress.count(m.ingress, -1)
	m.ingress = in
	m.cluster.ingress.count(in, 1)
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

// addFlow adds a flow, or replaces the smallest one if there are maxMemberFlows.
func (in *ingress) addFlow(f flow) {
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
