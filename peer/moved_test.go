package peer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/store"
)

// TestDestinationMoved moves the destination of a get, or the directory above it. The get fails, and the transfer
// completes without another get once the destination is back.
func TestDestinationMoved(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"disk", "disk/out"} {
		t.Run(filepath.Base(what), func(t *testing.T) {
			t.Parallel()
			gate, dir := peertest.NewGate(1<<20), t.TempDir()
			out, moved := filepath.Join(dir, "disk/out"), filepath.Join(dir, what)
			path, content := peertest.RandomFile(t, 4<<20)
			src := filepath.Dir(path)
			_, link := peertest.Seed(t, peertest.Start(t, "A", peertest.WithGate(gate)), src, peer.SeedOptions{})
			n := peertest.Start(t, "B")
			get := peertest.Get(t, n, link, out)
			peertest.Eventually(t, "the first piece", func() bool { return get.Status().Have > 0 })
			check(t, os.Rename(moved, moved+"-moved"), os.Mkdir(moved, 0o700))
			gate.Open()
			var away *store.AwayError
			if err := get.Wait(t.Context()); !errors.As(err, &away) || away.Path != out {
				t.Errorf("get: %v", err)
			}
			if st := get.Status(); st.Phase != peer.Fetching || !strings.Contains(st.Waiting, "put it back") {
				t.Errorf("status %+v", st)
			}
			check(t, os.Remove(moved), os.Rename(moved+"-moved", moved))
			peertest.Eventually(t, "the content to be complete", func() bool { return get.Status().Phase == peer.Whole })
			peertest.Wait(t, get)
			peertest.EqualFile(t, filepath.Join(out, filepath.Base(path)), content)
		})
	}
}
