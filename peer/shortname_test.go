package peer_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestLogHasNoIDs checks that the log has short names instead of ids, also in errors, and after a restart.
func TestLogHasNoIDs(t *testing.T) {
	t.Parallel()
	var text peertest.Recorder
	log := peertest.Log(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	data := peertest.Data(t.TempDir())
	a, b := peertest.Start(t, "A"), peertest.Start(t, "B", log, data)
	_, link, content := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
	id, short := get.ID.String(), get.ShortName()
	if st := get.Status(); st.ID != id || st.Short != short {
		t.Errorf("the status has the id %s and the short name %s, want %s and %s", st.ID, st.Short, id, short)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	// The restart fails to read the record, and reports its path.
	record := filepath.Join(get.Dir(), "transfer.json")
	if err := errors.Join(os.Remove(record), os.Mkdir(record, 0o700)); err != nil {
		t.Fatal(err)
	}
	peertest.Start(t, "B", log, data)
	if !strings.Contains(text.String(), short) || !strings.Contains(text.String(), "invalid transfer directory") {
		t.Errorf("the log does not have %s:\n%s", short, text.String())
	}
	if strings.Contains(text.String(), id) {
		t.Errorf("the log has the id %s:\n%s", id, text.String())
	}
}
