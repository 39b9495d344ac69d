package peer

import "time"

// enter sets the phase and returns a function that logs it, for the caller to call once it has
// released the lock. The function does nothing if the phase is the same as before.
func (t *Transfer) enter(p Phase) (log func()) {
	if t.mu.phase == p {
		return func() {}
	}
	t.mu.phase = p
	name, bytes, took, err := t.mu.rec.Link.Name, int64(0), time.Duration(0), t.mu.err
	if m := t.mu.desc.Manifest(); m != nil {
		name = m.Name
		_, bytes = t.stored(m)
	}
	if !t.mu.began.IsZero() {
		took = time.Since(t.mu.began)
	}
	return func() {
		log := t.node.log.With("event", "phase", "content", t.ID.String(), "name", name, "phase", string(p),
			"bytes", bytes, "duration", took)
		if p == Failed {
			log.Error("transfer failed", "error", oneLine(err.Error()))
			return
		}
		log.Info("transfer phase")
	}
}
