package peer_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

func TestLogHasOneLinePerPhase(t *testing.T) {
	t.Parallel()
	a := peertest.Start(t, "A")
	var text peertest.Recorder
	b := peertest.Start(t, "B", peertest.Log(slog.New(slog.NewJSONHandler(&text, nil))))
	_, link, content := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{})
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
	if err := get.Stop(); err != nil {
		t.Fatal(err)
	}
	peertest.Get(t, b, link, get.Status().Root)
	peertest.Wait(t, get)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want := []peer.Phase{peer.Seeking, peer.Fetching, peer.Whole, peer.Stopped, peer.Seeking, peer.Fetching, peer.Whole, peer.Stopped}
	var logged []peer.Phase
	for line := range strings.Lines(text.String()) {
		var l struct {
			Level, Event, Content, Name string
			Phase                       peer.Phase
			Bytes, Duration             *int64
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Event != "phase" {
			continue
		}
		logged = append(logged, l.Phase)
		if l.Level != "INFO" || l.Content != get.ShortName() || l.Name != "content.bin" || l.Bytes == nil || l.Duration == nil ||
			l.Phase == peer.Whole && (*l.Bytes != 1<<20 || *l.Duration <= 0) {
			t.Errorf("line %s", line)
		}
	}
	if !slices.Equal(logged, want) {
		t.Errorf("logged %q", logged)
	}
}
