package peer

import "time"

const (
	// lookAge is the time after which the entries of a complete transfer are compared with the disk again. It is
	// longLookAge for a transfer with more than manyEntries.
	lookAge     = 10 * time.Second
	longLookAge = time.Minute
	manyEntries = 10_000
)

// Look compares the entries of complete transfers with the disk, for [Status.Different]. It skips transfers that were
// looked at in the last 10 seconds, or the last minute if they have more than 10,000 entries. It waits for a second at
// most.
func Look(transfers ...*Transfer) { lookAtAll(transfers, (*Transfer).look) }

func (t *Transfer) look() {
	if !t.looking.TryLock() {
		return // another look waits for the disk
	}
	defer t.looking.Unlock()
	t.mu.Lock()
	disk, phase, last, m := t.mu.disk, t.mu.phase, t.mu.state.At, t.mu.desc.Manifest()
	t.mu.Unlock()
	if disk == nil || phase != Whole || m == nil {
		return
	}
	age := lookAge
	if len(m.Entries) > manyEntries {
		age = longLookAge
	}
	if time.Since(last) < age {
		return
	}
	state, err := disk.Look(t.node.ctx)
	if err != nil {
		return // Status.Waiting has the reason once a piece cannot be read
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.disk == disk {
		t.mu.state = state
	}
}
