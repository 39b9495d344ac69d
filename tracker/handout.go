package tracker

import (
	"math/rand/v2"

	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/proto"
)

// Sizes of a handout. A member takes at most 700 bytes (see maxAddrBytes), so that
// proto.MaxMembers of them fit a frame.
const (
	// smallSwarm is the number of members up to which a handout has all of them.
	smallSwarm = 256
	// maxLocal bounds the members of the announcer's own cluster.
	maxLocal = 512
	// neighbours is how many members on either side of the announcer's rank are
	// always in the handout: whatever else is sampled, they join the cluster in a ring.
	neighbours = 8
	// spares is how many members of another cluster come on top of those that
	// match the announcer's rank, for when these are gone or slow.
	spares = 3
)

// handout returns the members for the announcer m: its own cluster, then the others. It
// has no member twice, and not m itself.
func handout(m *member, rng *rand.Rand) []proto.Member {
	all := len(m.swarm.members) <= smallSwarm
	out := make([]proto.Member, 0, min(len(m.swarm.members)-1, proto.MaxMembers))
	out = appendLocal(out, m, rng)

	rank, _ := m.cluster.rank(m.id)
	samples := make([]clusterSample, 0, len(m.swarm.clusters)-1)
	for _, c := range m.swarm.clusters {
		if c != m.cluster {
			samples = append(samples, newClusterSample(c, rank, len(m.cluster.members), all, rng))
		}
	}
	rng.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
	return appendRoundRobin(out, samples)
}

// appendLocal appends the cluster of m without m: all of it, or the neighbours by
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
	for d := 1; d <= neighbours; d++ {
		out = append(out, at(d).info(), at(len(ms)-d).info())
	}
	s := newSequence(others-2*neighbours, rng)
	for k := range maxLocal - 2*neighbours {
		out = append(out, at(1+neighbours+s.at(k)).info())
	}
	return out
}

// appendRoundRobin appends one member of each sample per round, so that every
// cluster has the same share where not all members fit.
func appendRoundRobin(out []proto.Member, samples []clusterSample) []proto.Member {
	for round := 0; len(samples) > 0; round++ {
		left := samples[:0]
		for _, s := range samples {
			if round >= s.n {
				continue
			}
			if len(out) == proto.MaxMembers {
				return out
			}
			out = append(out, s.at(round).info())
			left = append(left, s)
		}
		samples = left
	}
	return out
}

// clusterSample is the members of another cluster in the order of preference:
// those that match the announcer's rank, then spares.
type clusterSample struct {
	members []*member
	first   int // rank of the first match
	matches sequence
	rest    sequence
	n       int // length of the sample
}

func newClusterSample(c *cluster, rank, size int, all bool, rng *rand.Rand) clusterSample {
	first, end := ranks.Matches(rank, size, len(c.members))
	s := clusterSample{
		members: c.members,
		first:   first,
		matches: newSequence(end-first, rng),
		rest:    newSequence(len(c.members)-(end-first), rng),
	}
	s.n = s.matches.n + min(spares, s.rest.n)
	if all {
		s.n = len(c.members)
	}
	return s
}

// at is the k-th member of the sample, 0 <= k < n.
func (s clusterSample) at(k int) *member {
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
// random start, and takes no memory, so a handout may use many.
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
