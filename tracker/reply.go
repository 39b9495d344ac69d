package tracker

import (
	"math/rand/v2"
	"net/netip"
	"slices"

	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/proto"
)

// Sizes of a reply. A member takes at most 700 bytes (see maxAddrBytes), so that
// proto.MaxMembers of them fit a frame.
const (
	// smallSwarm is the size of the largest swarm whose replies have all members.
	smallSwarm = 256
	// maxLocal bounds the members of the announcer's own cluster.
	maxLocal = 512
	// neighbors is the number of members on either side of the announcer's rank that are
	// always in the reply, so that they connect the cluster in a ring.
	neighbors = 8
	// spares is the number of members of another site in addition to those that
	// match the announcer's rank, in case these are slow or have left.
	spares = 3
	// maxHostSites bounds the other sites whose members at one address are in a reply. Without it, sites that one
	// machine makes up would fill every reply.
	maxHostSites = 4
)

type sampler struct {
	rng *rand.Rand
	// Kept from reply to reply: new ones would cost as much as the reply itself.
	samples []sample
	order   []*sample
	hosts   hostSites
}

// replyMembers returns the members for the announcer m: its own cluster, then other racks of its site,
// the nearest first, then other sites. Each level has at most half of the room that those before it
// left, but the last. It has no member twice, and not m itself.
func (r *sampler) replyMembers(m *member) []proto.Member {
	all := len(m.swarm.members) <= smallSwarm
	out := make([]proto.Member, 0, min(len(m.swarm.members)-1, smallSwarm))
	defer func() { clear(r.samples) }() // they point to members
	out = appendLocal(out, m, r.rng)
	for g := m.cluster; g.parent != nil; g = g.parent {
		rank, _ := g.rank(m.id)
		samples := r.samples[:0]
		for others := range g.siblings {
			s := newSample(others, rank, len(g.members), r.rng)
			if g.parent.parent != nil || all {
				s.n = len(others) // within a site all may meet
			}
			samples = append(samples, s)
		}
		r.samples = samples
		order := r.order[:0]
		for i := range samples {
			order = append(order, &samples[i])
		}
		r.order = order
		r.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		most := proto.MaxMembers
		var hosts *hostSites
		if g.parent.parent == nil {
			hosts = &r.hosts
			hosts.reset(m.host)
		}
		if g.parent.parent != nil && len(g.parent.members) < len(m.swarm.members) {
			most -= (most - len(out)) / 2
		}
		out = appendRoundRobin(out, order, most, hosts)
	}
	return out
}

// siblings yields the members of each other sub of the group's parent, and its members without a sub.
func (g *group) siblings(yield func([]*member) bool) {
	for _, sub := range g.parent.subs {
		if sub != g && !yield(sub.members) {
			return
		}
	}
	if g.parent.nodes > 0 {
		yield(slices.DeleteFunc(slices.Clone(g.parent.members), func(m *member) bool { return m.cluster != g.parent }))
	}
}

// appendLocal appends the cluster of m without m: all of it, or the neighbors by
// rank and a sample of the rest.
func appendLocal(out []proto.Member, m *member, rng *rand.Rand) []proto.Member {
	ms := m.cluster.members
	rank, _ := m.cluster.rank(m.id)
	at := func(distance int) *member { return ms[(rank+distance)%len(ms)] }
	others := len(ms) - 1
	if others <= maxLocal {
		for d := 1; d <= others; d++ {
			out = append(out, at(d).info())
		}
		return out
	}
	for d := 1; d <= neighbors; d++ {
		out = append(out, at(d).info(), at(len(ms)-d).info())
	}
	s := newSequence(others-2*neighbors, rng)
	for k := range maxLocal - 2*neighbors {
		out = append(out, at(1+neighbors+s.at(k)).info())
	}
	return out
}

// hostSites counts, for each address, the sites with members at that address in a reply.
type hostSites struct {
	own   netip.Addr // the announcer's address, which is not counted
	full  netip.Addr // rejected last, so that a flood from one address is rejected without a look into the map
	sites map[netip.Addr]int
}

func (h *hostSites) reset(own netip.Addr) {
	h.own, h.full = own, netip.Addr{}
	if clear(h.sites); h.sites == nil {
		h.sites = make(map[netip.Addr]int)
	}
}

// admit reports whether a member of a sample at host may be in the reply.
func (h *hostSites) admit(s *sample, host netip.Addr) bool {
	if h == nil || host == h.own || host == s.host || host.IsLoopback() {
		return true
	}
	if host == h.full || h.sites[host] == maxHostSites {
		h.full = host
		return false
	}
	h.sites[host]++
	s.host = host
	return true
}

// appendRoundRobin appends one member of each sample per round until there are most, so that every
// cluster has the same share where not all members fit. It omits members that hosts, if not nil, does not admit.
func appendRoundRobin(out []proto.Member, samples []*sample, most int, hosts *hostSites) []proto.Member {
	for round := 0; len(samples) > 0; round++ {
		left := samples[:0]
		for _, s := range samples {
			if round >= s.n {
				continue
			}
			if len(out) == most {
				return out
			}
			if m := s.at(round); hosts.admit(s, m.host) {
				out = append(out, m.info())
			}
			left = append(left, s)
		}
		samples = left
	}
	return out
}

// sample is the members of another site or rack in the order of preference:
// those that match the announcer's rank, then spares.
type sample struct {
	members []*member
	first   int // rank of the first match
	matches sequence
	rest    sequence
	n       int        // length of the sample
	host    netip.Addr // counted last in hostSites
}

func newSample(members []*member, rank, size int, rng *rand.Rand) sample {
	first, end := ranks.Matches(rank, size, len(members))
	s := sample{
		members: members,
		first:   first,
		matches: newSequence(end-first, rng),
		rest:    newSequence(len(members)-(end-first), rng),
	}
	s.n = s.matches.n + min(spares, s.rest.n)
	return s
}

// at is the k-th member of the sample, 0 <= k < n.
func (s *sample) at(k int) *member {
	if k < s.matches.n {
		return s.members[s.first+s.matches.at(k)]
	}
	// The rest are the ranks around the matches.
	r := s.rest.at(k - s.matches.n)
	if r >= s.first {
		r += s.matches.n
	}
	return s.members[r]
}

// sequence is a low-discrepancy permutation of 0 ... n-1: every prefix is spread
// evenly over the whole. It steps around the circle by the golden ratio, from a
// random start, and takes no memory, so a reply may use many.
type sequence struct{ n, start, stride int }

func newSequence(n int, rng *rand.Rand) sequence {
	if n <= 1 {
		return sequence{n: n, stride: 1}
	}
	const golden = 0.6180339887498949
	stride := max(int(float64(n)*golden), 1)
	// A stride that is coprime to n visits all before it repeats one.
	for gcd(stride, n) != 1 {
		stride++
	}
	return sequence{n: n, start: rng.IntN(n), stride: stride}
}

// at is the k-th element, 0 <= k < n.
func (s sequence) at(k int) int { return (s.start + k*s.stride) % s.n }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
