package roster

import "time"

// inconclusive is the number of sessions with an awaited member that may end without a message, as when both
// sides dial at the same time, or dial one that the other side has given up.
const inconclusive = 3

// Seen records a message of any peer.
func (r *Roster) Seen() {
	if r.isSilence() && !r.lastSeen.IsZero() {
		r.reunite(nil)
	}
	r.lastSeen = r.Now
}

// isSilence reports whether no peer has sent anything for as long as a silent local peer.
func (r *Roster) isSilence() bool {
	return r.Now.Sub(r.lastSeen) > 2*r.rules.Stall+r.site().AnswerTime
}

// reunite has a node that was cut off wait for its cluster before it fetches over the WAN: until each member
// that it knows, except one, has answered, or cannot be reached by a dial that starts from now on.
func (r *Roster) reunite(except *Node) {
	r.reunited = r.Now
	for _, n := range r.site().members() {
		if n == except || n.Record.Banned {
			continue
		}
		n.awaited, n.stale = inconclusive, n.dialing
		n.failed, n.retryAt = false, r.Now
		r.stale = true
		if n.joined {
			r.changes = append(r.changes, Change{Kind: Ping, ID: n.ID})
		}
	}
	r.scheduleConnect()
}

// endWait records that a member has answered, or cannot be reached.
func (r *Roster) endWait(n *Node) {
	n.awaited, n.stale = 0, false
	r.stale = true
}

// Answered records the answer to a ping that was sent a time ago.
func (r *Roster) Answered(n *Node, ago time.Duration) {
	since := r.Now.Sub(r.reunited) + time.Microsecond // the resolution of pings
	if n.awaited > 0 && ago <= since {
		r.endWait(n)
	}
}

// Unanswered reports whether an awaited member has left a ping unanswered: the one that it was sent when the node
// was back, or when it joined after that.
func (r *Roster) Unanswered(n *Node, joinedAt time.Time, limit time.Duration) bool {
	return n.awaited > 0 && r.Now.Sub(r.reunited) > limit && r.Now.Sub(joinedAt) > limit
}
