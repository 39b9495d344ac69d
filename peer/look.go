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
	s := t.state()
	disk := s.disk()
	if disk == nil || s.phase != Whole || !s.run.looking.CompareAndSwap(false, true) {
		return
	}
	defer s.run.looking.Store(false)
	age := lookAge
	if len(t.Manifest().Entries) > manyEntries {
		age = longLookAge
	}
	before := t.state().look
	if time.Since(before.At) < age {
		return
	}
	look, err := disk.Look(t.node.ctx)
	if err != nil {
		return // Status.Waiting has the reason once a piece cannot be read
	}
	current := false
	t.change(func(s *state) {
		if current = s.disk() == disk; current {
			s.look = look
		}
	})
	if !current || !before.Intact() || look.Intact() {
		return
	}
	log := t.log().With("path", s.rec.Root)
	if look.Away {
		log.Warn("content is not at its path")
		return
	}
	log.Warn("content differs from its files", "files", look.Different[:min(len(look.Different), maxNamed)],
		"more_files", max(0, len(look.Different)-maxNamed)+look.More)
}
