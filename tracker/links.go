package tracker

import (
	"net/netip"
	"strings"
	"time"

	"github.com/mobgrid/mob/proto"
)

// Bounds of the links that are remembered: a kilobyte each. A member's links count for its address.
const (
	maxLinks      = 16_384 // of all swarms
	maxSwarmLinks = proto.MaxTopologyLinks
)

const (
	// linkMemory is the number of seconds of a link that are kept: more than an announce interval, so that all
	// members have reported a second before it is removed.
	linkMemory = 60
	// linkSpan is the number of seconds over which a rate is measured.
	linkSpan = 3
	// fullQueue is the minimum queueing delay on a full link in microseconds, and fullPart the part of the
	// payload that must have it. Nodes keep a queue of 40 ms before a full link.
	fullQueue = 20_000
	fullPart  = 0.9
)

// direction is a link between groups, one way: between sites, or between a rack and what it is in.
type direction struct{ from, to string }

// link is the measurements of a link by all members. Rates are sums over the members.
type link struct {
	host    netip.Addr             // address of the member that measured it first
	seconds [linkMemory]linkSecond // a ring: a second t is at t modulo its length
	newest  int64                  // the last second in it

	best       float64 // the highest rate, in bytes per second
	bestFull   float64 // the highest while the link was full
	rtt        uint32  // the shortest, in microseconds; 0 if it is not known
	sent, lost uint64
}

// linkSecond is the payload of a second in bytes, and the part of it whose receivers saw a queue.
type linkSecond struct{ bytes, queued float64 }

// add adds payload that came from one time to another, in seconds.
func (l *link) add(from, to, bytes float64, queued bool) {
	l.advance(int64(to))
	for t := int64(from); t <= int64(to); t++ {
		part := bytes * (min(to, float64(t+1)) - max(from, float64(t))) / (to - from)
		if t <= l.newest-linkMemory || part <= 0 {
			continue
		}
		s := &l.seconds[t%linkMemory]
		s.bytes += part
		if queued {
			s.queued += part
		}
	}
}

// advance makes room for a second.
func (l *link) advance(t int64) {
	if t <= l.newest {
		return
	}
	for l.newest = max(l.newest, t-linkMemory); l.newest < t; {
		l.newest++
		l.seconds[l.newest%linkMemory] = linkSecond{}
	}
}

// measure finds the highest rates in what is remembered.
func (l *link) measure() {
	for t := max(l.newest-linkMemory+1, 0); t+linkSpan-1 <= l.newest; t++ {
		var bytes, queued float64
		for i := range int64(linkSpan) {
			s := l.seconds[(t+i)%linkMemory]
			bytes, queued = bytes+s.bytes, queued+s.queued
		}
		l.best = max(l.best, bytes/linkSpan)
		if queued >= fullPart*bytes {
			l.bestFull = max(l.bestFull, bytes/linkSpan)
		}
	}
}

// full reports whether the highest rate is what the link can carry: while it was full it carried about as
// much. A busy machine reads late, and then seems to receive more than the link carries.
func (l *link) full() bool { return l.best > 0 && l.bestFull >= 0.9*l.best }

// addWindows adds the payload of windows; end is the end of the last one in seconds. It leaves those out that are not remembered.
func (l *link) addWindows(end float64, windows []uint32, ml *proto.MeasuredLink) {
	for i := len(ml.Bytes) - 1; i >= 0 && end > float64(l.newest-linkMemory); i-- {
		begin := end - float64(windows[i])/1000
		if begin < 0 {
			return
		}
		if ml.Bytes[i] > 0 {
			l.add(begin, end, float64(ml.Bytes[i]), ml.Queue[i] >= fullQueue)
		}
		end = begin
	}
}

// forgetLinks forgets the links of the groups of a cluster that have no members anymore.
func (t *table) forgetLinks(s *swarm, cluster string) {
	for parts := 1; parts <= proto.ClusterParts(cluster); parts++ {
		group := proto.ClusterGroup(cluster, parts)
		if s.find(group) != nil {
			continue
		}
		in := func(name string) bool {
			return strings.HasPrefix(name, group) && proto.ClusterGroup(name, parts) == group
		}
		for d := range s.links {
			if in(d.from) || in(d.to) {
				s.linkShares.Release(s.links[d].host)
				t.links.Release(s.links[d].host)
				delete(s.links, d)
			}
		}
		return
	}
}

// measured adds the measurements of a member, if it is known.
func (t *table) measured(now time.Time, id proto.PeerID, key []byte, m *proto.Measured) {
	member := t.member(now, key, id)
	if member == nil {
		return
	}
	s, host, own := member.swarm, member.host, member.cluster.name
	end := float64(t.now.UnixMilli())/1000 - float64(m.Ago)/1000
	for i := range m.Links {
		ml := &m.Links[i]
		if s.find(ml.Cluster) == nil {
			continue
		}
		for _, d := range ways(ml.Cluster, own) {
			l := t.link(s, d, host)
			if l == nil {
				continue
			}
			l.addWindows(end, m.Windows, ml)
			l.measure()
			if d.from == ml.Cluster && ml.RTT > 0 && (l.rtt == 0 || ml.RTT < l.rtt) {
				l.rtt = ml.RTT
			}
		}
		out := ways(own, ml.Cluster)
		if ml.Sent == 0 || len(out) == 0 {
			continue
		}
		if l := t.link(s, out[len(out)-1], host); l != nil {
			l.sent += uint64(ml.Sent)
			l.lost += uint64(ml.Lost)
		}
	}
}

// ways returns the links on the way from a cluster to another: between the two sites, or out of the first
// one's rack, and then into each group of the other that the first is not in. Racks of a site that is
// another are not told apart.
func ways(from, to string) (out []direction) {
	shared := proto.SharedParts(from, to)
	switch {
	case shared == 0:
		out = append(out, direction{proto.ClusterGroup(from, 1), proto.ClusterGroup(to, 1)})
	case proto.ClusterParts(from) > shared:
		out = append(out, direction{proto.ClusterGroup(from, shared+1), proto.ClusterGroup(from, shared)})
	}
	for parts := max(shared, 1); parts < proto.ClusterParts(to); parts++ {
		out = append(out, direction{proto.ClusterGroup(to, parts), proto.ClusterGroup(to, parts+1)})
	}
	return out
}

// link returns a link of a swarm that a member at host measured. It returns nil if there are too many, or too many of host.
func (t *table) link(s *swarm, d direction, host netip.Addr) *link {
	if l := s.links[d]; l != nil {
		return l
	}
	if !t.links.Take(host) {
		return nil
	}
	if !s.linkShares.Take(host) {
		t.links.Release(host)
		return nil
	}
	l := &link{host: host}
	s.links[d] = l
	return l
}
