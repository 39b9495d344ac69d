package limit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Demand is a member's need of the limit that its site shares.
type Demand struct {
	// Limit is the limit configured at the member, zero if it has none.
	Limit Rate
	// Rate is the rate that the member needs, [Unbounded] if it could use any.
	Rate Rate
}

// Unbounded is the demand of a member that could use more than its share.
const Unbounded = maxRate

const (
	// shareTick is the interval at which a member updates its share and sends its demand. A
	// share grows only after two ticks, when other members have received the demand.
	shareTick = 100 * time.Millisecond
	// useTicks is the number of ticks over which use is measured, more than a block takes at a
	// slow member.
	useTicks = 10
	// calmTicks is the number of ticks without waiting until a member demands less.
	calmTicks = 3
	// spare is the part of an even share that a member has without a demand, as a divisor, so
	// that its first request need not wait for the other members.
	spare = 32
)

// A Share is a node's share of a limit for all members of its site. Shares are max-min fair. Each
// member computes all shares from the demands of all. A share falls immediately, and grows after the
// other members have received the demand, so the sum stays below the limit. It is safe for
// concurrent use.
type Share struct {
	// Bucket lets the node's share pass.
	Bucket Bucket

	changed chan struct{} // closed and replaced when the limit changes

	mu      sync.Mutex
	own     Demand // as sent to the other members
	members map[string]Demand
	rate    Rate // of the bucket
	next    Rate // target at the last tick
	starved int  // ticks since a call had to wait, at most calmTicks
	passed  [useTicks]int64
	tick    int
}

// NewShare returns the share of a node without a limit.
func NewShare() *Share {
	return &Share{changed: make(chan struct{}), members: map[string]Demand{}, starved: calmTicks}
}

// SetLimit changes the node's limit. Without one it takes no part.
func (s *Share) SetLimit(r Rate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r == s.own.Limit {
		return
	}
	s.own = Demand{Limit: r}
	s.lower()
	if len(s.members) == 0 {
		s.set(s.target())
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Demand returns the demand that the node sends to the other members.
func (s *Share) Demand() Demand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own
}

// Receive records the demand of a member.
func (s *Share) Receive(id string, d Demand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Limit == 0 {
		delete(s.members, id)
		return
	}
	d.Limit = max(d.Limit, minRate)
	if s.members[id] == d {
		return
	}
	s.members[id] = d
	s.lower()
}

// Leave removes a member.
func (s *Share) Leave(id string) { s.Receive(id, Demand{}) }

// Run updates the share, and calls send with the node's demand when it changed, until ctx ends.
func (s *Share) Run(ctx context.Context, send func(Demand)) {
	ticks := time.NewTicker(shareTick)
	defer ticks.Stop()
	var sent Demand
	for {
		d, changed := s.step()
		if d != sent {
			sent = d
			send(d)
		}
		due := ticks.C
		if d.Limit == 0 {
			due = nil
		}
		select {
		case <-due:
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// step performs a tick. It returns the node's demand, and a channel that is closed when the limit changes.
func (s *Share) step() (Demand, <-chan struct{}) {
	starved, passed := s.Bucket.Starved(), s.Bucket.Passed()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own.Limit == 0 {
		return s.own, s.changed
	}
	s.starved = min(s.starved+1, calmTicks)
	if starved {
		s.starved = 0
	}
	use := Rate(float64(passed-s.passed[s.tick%useTicks]) / (useTicks * shareTick).Seconds())
	s.passed[s.tick%useTicks] = passed
	s.tick++
	switch need := use + use/4; {
	case s.starved < calmTicks:
		s.own.Rate = Unbounded
	case need > s.own.Rate || need < s.own.Rate/4*3:
		s.own.Rate = need
	}
	target := s.target()
	if len(s.members) == 0 {
		s.next = target
	}
	s.set(min(target, max(s.rate, s.next)))
	s.next = target
	return s.own, s.changed
}

// ShareStatus is the state of a [Share].
type ShareStatus struct {
	// Rate is the node's part of Limit, and Members the number of members that share it, the node included.
	Rate    Rate `json:"rate"`
	Limit   Rate `json:"limit"`
	Members int  `json:"members"`
	// LowestBy is the member whose limit is lower than the node's, empty if there is none.
	LowestBy string `json:"lowest_by,omitempty"`
}

// Status returns the state, nil without a limit.
func (s *Share) Status() *ShareStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own.Limit == 0 {
		return nil
	}
	st := &ShareStatus{Rate: s.rate, Members: len(s.members) + 1}
	st.Limit, st.LowestBy = s.limit()
	return st
}

// The methods below are called with the lock held.

// limit returns the lowest limit of a member, and the member's id, empty for the node itself.
func (s *Share) limit() (lowest Rate, by string) {
	lowest = s.own.Limit
	for id, d := range s.members {
		if d.Limit < lowest || d.Limit == lowest && by > id {
			lowest, by = d.Limit, id
		}
	}
	return lowest, by
}

// lower lowers the rate to the target.
func (s *Share) lower() {
	if t := s.target(); t == 0 || t < s.rate {
		s.set(t)
	}
}

func (s *Share) set(r Rate) {
	s.rate = r
	s.Bucket.SetRate(r)
}

// target returns the node's share by the demands of all members, at least 1, and 0 without a limit.
func (s *Share) target() Rate {
	if s.own.Limit == 0 {
		return 0
	}
	left, _ := s.limit()
	n := Rate(len(s.members) + 1)
	least := left / n / spare
	demands := []Rate{max(s.own.Rate, least)}
	for _, d := range s.members {
		demands = append(demands, max(d.Rate, least))
	}
	slices.Sort(demands)
	var share Rate
	for i, d := range demands {
		got := min(d, left/(n-Rate(i)))
		left -= got
		if d == max(s.own.Rate, least) {
			share = got
		}
	}
	return max(share+left/n, 1)
}
