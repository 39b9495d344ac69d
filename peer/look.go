package peer

import "time"

const (
	// lookAge is the time after which the entries of a complete transfer are compared with the disk again. It is
	// longLookAge for a transfer with more than manyEntries.
	lookAge     = 10 * time.Second
	longLookAge = 50 * time.Second // less than a minute, at which the node looks
	manyEntries = 10_000
)

// Look compares the entries of complete transfers with the disk, for [Status.Different], and logs if they differ. The node
// does so every minute. It skips transfers that were
// looked at in the last 10 seconds, or the last 50 seconds if they have more than 10,000 entries. It waits for a second at
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
	current, before, root := t.mu.disk == disk, t.mu.state, t.mu.rec.Root
	if current {
		t.mu.state = state
	}
	t.mu.Unlock()
	if current && before.Intact() && !state.Intact() {
		log := t.node.log.With("content", t.ID.String(), "path", root)
		if state.Away {
			log.Warn("content is not at its path")
			return
		}
		log.Warn("content differs from its files", "files", state.Different[:min(len(state.Different), maxNamed)],
			"more_files", max(0, len(state.Different)-maxNamed)+state.More)
	}
}
