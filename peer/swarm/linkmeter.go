package swarm

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// windowLength is the least length of a window of a [linkMeter].
const windowLength = time.Second

// linkMeter measures payload from other clusters, and the queueing delay of messages from there, in
// successive windows of time. Trackers add up the measurements of all members of a cluster. The loop samples,
// and the announcer takes. It is safe for concurrent use.
type linkMeter struct {
	mu      sync.Mutex
	last    map[string]uint64 // payload by cluster, at the end of the last closed window
	open    meterWindow
	windows []meterWindow // closed and not sent: at most as many as a message has

	counted map[string]segments // by cluster, not sent; bounded: peers choose the names
	taken   time.Time           // the last time of take
}

// segments counts segments with payload on bulk sockets, and the retransmitted ones.
type segments struct{ sent, lost uint64 }

// meterWindow has the measurements of a window, by cluster.
type meterWindow struct {
	began, end time.Time
	bytes      map[string]uint64
	queue      map[string]time.Duration // the shortest: a queue that empties does not precede a full link
}

// sample adds the bytes received so far from each cluster, and the queueing delays of peers that owe
// blocks. name returns the name under which the cluster of a peer is counted, empty for none.
func (m *linkMeter) sample(now time.Time, flows []proto.Flow, peers []mob.PeerStatus, name func(mob.Node) string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open.began.IsZero() {
		m.start(now, flows)
	}
	for i := range peers {
		p := &peers[i]
		if p.InFlight == 0 {
			continue
		}
		if cluster := name(p.Node); cluster != "" {
			if q, ok := m.open.queue[cluster]; !ok || p.Queue < q {
				m.open.queue[cluster] = p.Queue
			}
		}
	}
	if now.Sub(m.open.began) < windowLength {
		return
	}
	m.open.end = now
	for _, f := range flows {
		if n := f.Bytes - m.last[f.Cluster]; n > 0 {
			m.open.bytes[f.Cluster] = n
		}
	}
	if len(m.windows) == proto.MaxWindows {
		m.windows = slices.Delete(m.windows, 0, 1)
	}
	m.windows = append(m.windows, m.open)
	m.start(now, flows)
}

func (m *linkMeter) start(now time.Time, flows []proto.Flow) {
	m.open = meterWindow{began: now, bytes: map[string]uint64{}, queue: map[string]time.Duration{}}
	m.last = map[string]uint64{}
	for _, f := range flows {
		m.last[f.Cluster] = f.Bytes
	}
}

func (m *linkMeter) count(cluster string, n segments) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counted == nil {
		m.counted = map[string]segments{}
	}
	if sum, known := m.counted[cluster]; known || len(m.counted) < maxRoutes {
		m.counted[cluster] = segments{sum.sent + n.sent, sum.lost + n.lost}
	}
}

// take returns the measurements that were not sent, nil if there are none. The caller calls sent once they are.
// own is the node's cluster, which is left out; rtt has the round trips by cluster.
func (m *linkMeter) take(now time.Time, own string, rtt map[string]time.Duration) *proto.Measured {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = now
	out, sums := new(proto.Measured), map[string]uint64{}
	for _, w := range m.windows {
		out.Windows = append(out.Windows, uint32(min(max(w.end.Sub(w.began).Milliseconds(), 1), 60_000)))
		out.Ago = uint32(min(max(now.Sub(w.end).Milliseconds(), 0), math.MaxUint32))
		for cluster, n := range w.bytes {
			sums[cluster] += n
		}
	}
	for cluster, s := range m.counted {
		if s.sent > 0 {
			sums[cluster]++
		}
	}
	maps.DeleteFunc(sums, func(cluster string, _ uint64) bool {
		return proto.SharedParts(own, cluster) == proto.ClusterParts(own)
	})
	if len(sums) == 0 {
		return nil
	}
	clusters := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b)) })
	clusters = clusters[:min(len(clusters), proto.MaxMeasured)]
	slices.Sort(clusters)
	for _, cluster := range clusters {
		out.Links = append(out.Links, m.link(cluster, rtt[cluster]))
	}
	return out
}

// link returns the measurements of one cluster. The caller has the lock.
func (m *linkMeter) link(cluster string, rtt time.Duration) proto.MeasuredLink {
	s := m.counted[cluster]
	l := proto.MeasuredLink{
		Cluster: cluster,
		RTT:     limited(uint64(max(rtt.Microseconds(), 0))),
		Sent:    limited(s.sent),
		Lost:    min(limited(s.lost), limited(s.sent)),
	}
	if !slices.ContainsFunc(m.windows, func(w meterWindow) bool { return w.bytes[cluster] > 0 }) {
		return l
	}
	for _, w := range m.windows {
		l.Bytes = append(l.Bytes, limited(w.bytes[cluster]))
		l.Queue = append(l.Queue, limited(uint64(max(w.queue[cluster].Microseconds(), 0))))
	}
	return l
}

func limited(n uint64) uint32 { return uint32(min(n, math.MaxUint32)) }

// sent forgets the measurements that take returned.
func (m *linkMeter) sent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.windows = slices.DeleteFunc(m.windows, func(w meterWindow) bool { return !w.end.After(m.taken) })
	clear(m.counted)
}

func (s *Swarm) sampleLinks(now time.Time, st mob.Status) {
	s.meter.sample(now, s.sources.flows(), st.Peers, func(n mob.Node) string {
		if n.External {
			return ""
		}
		return s.sources.name(n.Cluster)
	})
}

// measured returns the measurements for the trackers, nil if there are none.
func (s *Swarm) measured() *proto.Measured {
	rtt := map[string]time.Duration{}
	note := func(cluster string, d time.Duration) {
		if known, ok := rtt[cluster]; d > 0 && (!ok || d < known) {
			rtt[cluster] = d
		}
	}
	s.sessions.mu.RLock()
	for _, c := range s.byID {
		if n, ok := c.conn.(*nodePeer); ok && c.node.Cluster != s.cfg.Cluster {
			cluster := s.sources.name(c.node.Cluster)
			n.eachSocket(func(path transport.Path, added segments) {
				note(cluster, path.MinRTT)
				s.meter.count(cluster, added)
			})
		}
	}
	s.sessions.mu.RUnlock()
	for _, p := range s.status.Load().strategy.Peers {
		note(s.sources.name(p.Cluster), p.RTT)
	}
	return s.meter.take(time.Now(), s.cfg.Cluster, rtt)
}

// eachSocket calls f for each bulk socket of a session, with the segments since the last call.
func (c *nodePeer) eachSocket(f func(path transport.Path, added segments)) {
	c.channels.Lock()
	defer c.channels.Unlock()
	for ch, before := range c.channels.open {
		if conn, ok := ch.(*transport.Conn); ok {
			path := conn.Path()
			now := segments{max(path.Sent, before.sent), max(path.Lost, before.lost)} // a closed socket has none
			c.channels.open[ch] = now
			f(path, segments{now.sent - before.sent, now.lost - before.lost})
		}
	}
}
