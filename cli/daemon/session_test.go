package daemon

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/peer"
)

// TestRemoveSeed removes the transfer of an interrupted seed, unless it existed before the seed.
func TestRemoveSeed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{false, true} {
		env := &command.Env{Err: io.Discard, Getenv: func(string) string { return "" }}
		s, err := DialOrRun(t.Context(), &command.App{Env: env, Data: t.TempDir(), LogLevel: "off"}, LocalFlags())
		if err != nil {
			t.Fatal(err)
		}
		tr, err := s.Own.node.Seed(t.Context(), path, peer.SeedOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var before []string
		if known {
			before = append(before, tr.ID.String())
		}
		if err := s.RemoveSeed(path, before); err != nil {
			t.Error(err)
		}
		if _, err := s.OwnTransfer(tr.ID.String()); (err == nil) != known {
			t.Errorf("known before %t: %v", known, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
