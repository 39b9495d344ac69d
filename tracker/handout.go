package tracker

import (
	"math/rand/v2"

	"github.com/mobgrid/mob/mob/ranks"
	"github.com/mobgrid/mob/proto"
)

// How much is handed out. A member is at most 700 bytes there (see maxAddrBytes),
// so that proto.MaxMembers of them fit a frame.
const (
	// smallSwarm is the number of members up to which everybody is told of all.
	smallSwarm = 256
	// ownCluster bounds the members of the announcer's own cluster.
	ownCluster = 512
	// neighbours is how many members on either side of the announcer's rank are
	// told of always: whatever else is sampled, they join the cluster in a ring.
	neighbours = 8
	// spares is how many members of another cluster come on top of those that
	// match the announcer's rank, for when these are gone or slow.
	spares = 3
)

// handout is whom the announcer m is told of: its own cluster, then members of
// the others. It never has m itself, nor anybody twice.
func handout(m *member, rng *rand.Rand) []proto.Member {
	all := len(m.swarm.members) <= smallSwarm
	out := make([]proto.Member, 0, min(len(m.swarm.members)-1, proto.MaxMembers))
	out = appendOwn(out, m, rng)

	rank, _ := m.cluster.rank(m.id)
	lanes := make([]lane, 0, len(m.swarm.clusters)-1)
	for _, c := range m.swarm.clusters {
		if c != m.cluster {
			lanes = append(lanes, newLane(c, rank, len(m.cluster.members), all, rng))
		}
	}
	rng.Shuffle(len(lanes), func(i, j int) { lanes[i], lanes[j] = lanes[j], lanes[i] })
	return appendLanes(out, lanes)
}

// appendOwn appends the cluster of m without m: all of it, or neighbours by rank
// and a spread sample.
func appendOwn(out []proto.Member, m *member, rng *rand.Rand) []proto.Member {
	ms := m.cluster.members
	rank, _ := m.cluster.rank(m.id)
	at := func(distance int) *member { return ms[(rank+distance)%len(ms)] }
	others := len(ms) - 1
	if others <= ownCluster {
		for d := 1; d <= others; d++ {
			out = append(out, at(d).tell())
		}
		return out
	}
	for d := 1; d <= neighbours; d++ {
		out = append(out, at(d).tell(), at(len(ms)-d).tell())
	}
	s := newSpread(others-2*neighbours, rng)
	for k := range ownCluster - 2*neighbours {
		out = append(out, at(1+neighbours+s.at(k)).tell())
	}
	return out
}

// appendLanes appends members from the lanes in turn, one of each per round, so
// that where there are more than fit, every cluster gives as many.
func appendLanes(out []proto.Member, lanes []lane) []proto.Member {
	for round := 0; len(lanes) > 0; round++ {
		left := lanes[:0]
		for _, l := range lanes {
			if round >= l.n {
				continue
			}
			if len(out) == proto.MaxMembers {
				return out
			}
			out = append(out, l.at(round).tell())
			left = append(left, l)
		}
		lanes = left
	}
	return out
}

// lane is the members of another cluster in the order in which they are told of:
// those that match the announcer's rank, then spares.
type lane struct {
	members []*member
	first   int // rank of the first match
	matches spread
	rest    spread
	n       int // how many are told of
}

func newLane(c *cluster, rank, size int, all bool, rng *rand.Rand) lane {
	first, end := ranks.Matches(rank, size, len(c.members))
	l := lane{
		members: c.members,
		first:   first,
		matches: newSpread(end-first, rng),
		rest:    newSpread(len(c.members)-(end-first), rng),
	}
	l.n = l.matches.n + min(spares, l.rest.n)
	if all {
		l.n = len(c.members)
	}
	return l
}

// at is the k-th member of the lane, 0 <= k < n.
func (l lane) at(k int) *member {
	if k < l.matches.n {
		return l.members[l.first+l.matches.at(k)]
	}
	// The rest are the ranks around the matches.
	r := l.rest.at(k - l.matches.n)
	if r >= l.first {
		r += l.matches.n
	}
	return l.members[r]
}

// tell is m as others are told of it.
func (m *member) tell() proto.Member {
	return proto.Member{ID: m.id, Cluster: m.cluster.name, Addrs: m.addrs}
}
