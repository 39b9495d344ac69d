package peer

import (
	"sync"
	"time"
)

// EventKind says what an [Event] tells.
type EventKind string

// Kinds of events.
const (
	EventPhase   EventKind = "phase"   // a transfer is in another phase
	EventDamage  EventKind = "damage"  // stored pieces turned out to be damaged
	EventRemoved EventKind = "removed" // a transfer was removed
	EventLimits  EventKind = "limits"  // limits of the node, or of a transfer, were changed
)

// Event is something that happened at a node. Its JSON is an interface for scripts.
type Event struct {
	Time time.Time `json:"time"`
	Kind EventKind `json:"event"`
	// Content is the id of the transfer, and Name and Path are those of its content. They are
	// empty if the event is about none.
	Content string `json:"content,omitempty"`
	Name    string `json:"name,omitempty"`
	Path    string `json:"path,omitempty"`
	Phase   Phase  `json:"phase,omitempty"`
	// Bytes are those of the verified pieces.
	Bytes int64 `json:"bytes"`
	// Duration is the time since the transfer was started or resumed.
	Duration time.Duration `json:"duration_ns"`
	// Error says why a transfer failed or was stopped.
	Error string `json:"error,omitempty"`
	// Damaged counts the pieces of an EventDamage, and Files names their files, eight at most.
	Damaged int      `json:"damaged,omitempty"`
	Files   []string `json:"files,omitempty"`
	// Text has the limits of an EventLimits.
	Text string `json:"text,omitempty"`
}

// enter begins a phase, and returns what to note of that once the lock is free, which the caller
// has. It returns nil if the transfer is in that phase.
func (t *Transfer) enter(p Phase) *Event {
	if t.mu.phase == p {
		return nil
	}
	t.mu.phase = p
	e := t.happened(Event{Kind: EventPhase})
	return &e
}

// damageFound publishes that pieces are damaged. The caller has the lock.
func (t *Transfer) damageFound(pieces int, files []string) {
	t.happened(Event{Kind: EventDamage, Damaged: pieces, Files: files})
}

// happened publishes an event of the transfer, and returns it, complete. The caller has the lock,
// which keeps events in order.
func (t *Transfer) happened(e Event) Event {
	e = t.event(e)
	t.node.events.publish(e)
	return e
}

// event completes an event of the transfer. The caller has the lock.
func (t *Transfer) event(e Event) Event {
	e.Time = time.Now()
	e.Content, e.Name, e.Path, e.Phase = t.ID.String(), t.mu.rec.Link.Name, t.mu.rec.Root, t.mu.phase
	if m := t.mu.desc.Manifest(); m != nil {
		e.Name = m.Name
		_, e.Bytes = t.stored(m)
	}
	if !t.mu.began.IsZero() {
		e.Duration = e.Time.Sub(t.mu.began)
	}
	if t.mu.err != nil && (e.Phase == Failed || e.Phase == Stopped) {
		e.Error = oneLine(t.mu.err.Error())
	}
	return e
}

// Event returns what phase the transfer is in, as the event that began it.
func (t *Transfer) Event() Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.event(Event{Kind: EventPhase})
}

// note logs the begin of a phase, unless e is nil. It is the one line of the log for that.
func (n *Node) note(e *Event) {
	if e == nil {
		return
	}
	attrs := []any{"event", string(e.Kind), "content", e.Content, "name", e.Name, "phase", string(e.Phase),
		"bytes", e.Bytes, "duration", e.Duration}
	if e.Phase == Failed {
		n.log.Error("transfer failed", append(attrs, "error", e.Error)...)
		return
	}
	n.log.Info("transfer phase", attrs...)
}

// Follow returns what happens from now on. The caller closes the follower.
func (n *Node) Follow() *Follower { return n.events.follow() }

// followQueue is how many events may wait for a follower.
const followQueue = 1024

// Follower reads the events of a node.
type Follower struct {
	// Events has them in order. It is closed when the node closes, or with Close, or when the
	// follower is too far behind, see Behind.
	Events <-chan Event

	of     *events
	events chan Event
	behind bool // guarded by of.mu
}

// Close ends a follower. Closing again does nothing.
func (f *Follower) Close() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.of.drop(f)
}

// Behind reports whether the follower was dropped because it did not read.
func (f *Follower) Behind() bool {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	return f.behind
}

// events passes events on to followers. Safe for concurrent use.
type events struct {
	mu        sync.Mutex
	followers map[*Follower]struct{} // nil once closed
}

func newEvents() events { return events{followers: map[*Follower]struct{}{}} }

func (b *events) follow() *Follower {
	ch := make(chan Event, followQueue)
	f := &Follower{Events: ch, of: b, events: ch}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.followers == nil {
		close(ch)
		return f
	}
	b.followers[f] = struct{}{}
	return f
}

// publish does not block: a follower whose queue is full is dropped.
func (b *events) publish(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.followers {
		select {
		case f.events <- e:
		default:
			f.behind = true
			b.drop(f)
		}
	}
}

// drop ends a follower, if it is one. The caller has the lock.
func (b *events) drop(f *Follower) {
	if _, ok := b.followers[f]; ok {
		delete(b.followers, f)
		close(f.events)
	}
}

// close ends all followers.
func (b *events) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.followers {
		b.drop(f)
	}
	b.followers = nil
}
