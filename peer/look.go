package peer

import "time"

const (
	// lookAge is the minimum time between two comparisons of a complete transfer with the disk, longLookAge
	// the time with more than manyEntries.
	lookAge     = 10 * time.Second
	longLookAge = 50 * time.Second // less than a minute, at which the node looks
	manyEntries = 10_000
)

// Look compares the entries of complete transfers with the disk, for [Status.Different], and logs if they differ. The node
// does so every minute. It skips transfers that were compared in the last 10 seconds, or the last 50 seconds if they have
// more than 10,000 entries. It waits for a second at most, and returns the status of each.
func Look(transfers ...*Transfer) []Status {
	lookAtAll(transfers, func(t *Transfer) {
		if s := t.state(); s.disk() != nil && s.phase == Whole && s.run.looking.CompareAndSwap(false, true) {
			defer s.run.looking.Store(false)
			s.run.look()
		}
	})
	list := []Status{} // never null in JSON
	for _, t := range transfers {
		list = append(list, t.Status())
	}
	return list
}

func (r *run) look() {
	age := lookAge
	if len(r.verifier.Manifest().Entries) > manyEntries {
		age = longLookAge
	}
	before := r.state().look
	if time.Since(before.At) < age {
		return
	}
	look, err := r.disk.Look(r.node.ctx)
	if err != nil {
		return // Status.Waiting has the reason once a piece cannot be read
	}
	current := false
	r.change(func(s *state) {
		if current = s.run == r && s.swarm != nil; current {
			s.look = look
		}
	})
	if !current || !before.Intact() || look.Intact() {
		return
	}
	log := r.log().With("path", r.state().rec.Root)
	if look.Away {
		log.Warn("content is not at its path")
		return
	}
	log.Warn("content differs from its files", "files", look.Different[:min(len(look.Different), maxNamed)],
		"more_files", max(0, len(look.Different)-maxNamed)+look.More)
}
