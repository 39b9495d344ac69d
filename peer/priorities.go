package peer

import (
	"errors"
	"time"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/metadata"
)

var errHigh = errors.New("only the owner of the daemon may give a high priority: choose low or normal")

// SetPriority changes the priority of the transfer among the transfers of the node. The transfer keeps it after a
// restart of the node. An empty priority has no effect.
func (t *Transfer) SetPriority(p limit.Priority) error {
	if p == "" {
		return nil
	}
	return t.do(func() error { return t.update(func(r *metadata.Record) { r.Priority = p }) })
}

// loads returns what the transfers moved. A fetch counts as moving for a second, so that the queues of other
// transfers are short when its first bytes arrive.
func (r *registry) loads() map[*limit.Buckets]limit.Load {
	r.mu.Lock()
	defer r.mu.Unlock()
	loads := map[*limit.Buckets]limit.Load{}
	for _, t := range r.byID {
		s := t.state()
		l := limit.Load{Priority: s.rec.Priority, Starting: s.running() && s.writes() && time.Since(s.started) < time.Second}
		if s.swarm != nil {
			moved := s.swarm.Totals().Traffic
			l.Moved = [...]int64{moved.WANIn, moved.WANOut, moved.LANOut}
		}
		loads[&t.governed] = l
	}
	return loads
}
