package sim

import "time"

// Cut cuts a node off from every node, as when its cable is unplugged. Packets are lost without an
// error, and its connections stay open.
type Cut struct {
	Node    int
	At, For time.Duration
}

// cutUntil returns when a node that is cut off, either of two, is back, 0 if neither is.
func (s *sim) cutUntil(a, b *node) (end time.Duration) {
	for _, c := range s.cfg.Faults.Cuts {
		if (c.Node == a.index || c.Node == b.index) && c.At <= s.now && s.now < c.At+c.For {
			end = max(end, c.At+c.For)
		}
	}
	return end
}

// What is lost is sent again after minRTO, and then after twice the time each time. The first packet
// of a connection is sent again every synRTO.
const (
	minRTO = 200 * time.Millisecond
	synRTO = time.Second
)

// loss has the times of unacknowledged frames of a node on a connection.
type loss struct {
	sent, again time.Duration // when the first of it was sent, and is sent again
}

// heldUntil returns when a frame that is sent on a connection now arrives at the link: immediately, or
// after earlier lost frames were sent again and arrived, the first time after the end of a cut.
func (s *sim) heldUntil(f *frame) time.Duration {
	end := s.cutUntil(f.from, f.to)
	l := f.conn.lost[f.from]
	if l == nil {
		if end == 0 {
			return s.now
		}
		if f.conn.lost == nil {
			f.conn.lost = map[*node]*loss{}
		}
		l = &loss{s.now, s.now}
		f.conn.lost[f.from] = l
	}
	for l.again < end {
		l.again += max(l.again-l.sent, minRTO)
	}
	return l.again
}

// resend sends a frame again that was lost, unless the connection has ended.
func (s *sim) resend(f *frame, at time.Duration) {
	s.later(at, call(func() {
		delete(f.conn.lost, f.from)
		if f.fin || f.from.conns[f.to] == f.conn {
			s.cross(f)
		}
	}))
}

// connectedAt returns when the first packet of a dial that begins now arrives, and false if the
// dial fails before.
func (s *sim) connectedAt(a, b *node) (at time.Duration, ok bool) {
	at = s.now
	for end := s.cutUntil(a, b); at < end; {
		at += synRTO
	}
	return at, at < s.now+dialTimeout
}
