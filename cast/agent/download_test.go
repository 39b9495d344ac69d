package agent

import (
	"testing"

	"github.com/mobgrid/mob/peer"
)

// TestProgressOf checks that hashed bytes do not count, and that the reason of a wait follows "waiting for" in each phase.
func TestProgressOf(t *testing.T) {
	t.Parallel()
	for phase, c := range map[peer.Phase]struct {
		is   peer.SwarmStatus
		want Progress
	}{
		peer.Seeking:  {peer.SwarmStatus{Waiting: "looking for the content: no known peer has the content"}, Progress{Waiting: "the manifest"}},
		peer.Checking: {peer.SwarmStatus{Have: 5}, Progress{Waiting: "the hashes of existing files"}},
		peer.Fetching: {peer.SwarmStatus{Have: 5, Waiting: "peers"}, Progress{Bytes: 5, Waiting: "peers"}},
	} {
		if got := ProgressOf(peer.Status{Phase: phase, SwarmStatus: c.is}); got != c.want {
			t.Errorf("%s: %+v", phase, got)
		}
	}
}

// TestProgressOfNewDestination checks that a host is not reported to hash existing files if nothing was at the destination.
func TestProgressOfNewDestination(t *testing.T) {
	t.Parallel()
	for existed, want := range map[bool]string{true: "the hashes of existing files", false: "the disk"} {
		d := &download{place: &place{existed: existed}}
		if got := d.progressOf(peer.Status{Phase: peer.Checking}); got.Waiting != want {
			t.Errorf("existed %t: waiting for %s, want %s", existed, got.Waiting, want)
		}
	}
}
