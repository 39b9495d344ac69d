package peer_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/peer/peertest"
)

// phases returns the phases of the events of a follower, which the end of the node ends.
func phases(t *testing.T, f *peer.Follower, id string) (list []peer.Phase) {
	t.Helper()
	for e := range f.Events {
		if e.Content != id || e.Time.IsZero() {
			t.Errorf("event %+v", e)
		}
		if e.Kind == peer.EventPhase {
			list = append(list, e.Phase)
		}
	}
	return list
}

// TestEachPhaseIsAnEvent has a transfer go through its phases. The log has one line in JSON for each,
// and followers hear of the same.
func TestEachPhaseIsAnEvent(t *testing.T) {
	t.Parallel()
	a := peertest.Start(t, "A")
	var text peertest.Recorder
	b := peertest.Start(t, "B", peertest.Log(slog.New(slog.NewJSONHandler(&text, nil))))
	follower := b.Follow()
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
	heard := phases(t, follower, get.ID.String())
	want := []peer.Phase{peer.Seeking, peer.Fetching, peer.Whole, peer.Stopped, peer.Seeking, peer.Fetching, peer.Whole, peer.Stopped}
	if !slices.Equal(heard, want) {
		t.Errorf("heard of %q", heard)
	}
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

// TestFollowerThatNeverReads is dropped, and keeps neither the node nor other followers waiting.
func TestFollowerThatNeverReads(t *testing.T) {
	t.Parallel()
	a := peertest.Start(t, "A")
	idle, busy := a.Follow(), a.Follow()
	defer busy.Close()
	const many = 5000
	for i := range many {
		l := limit.Limits{WANUp: limit.Rate(1e6 * (1 + i%2))}
		a.SetLimits(l)
		if e := <-busy.Events; e.Kind != peer.EventLimits || e.Text != l.String() {
			t.Fatalf("event %+v", e)
		}
	}
	n := 0
	for range idle.Events {
		n++
	}
	if !idle.Behind() || n >= many || busy.Behind() {
		t.Errorf("%d of %d events wait for one that does not read; dropped %v, and the other %v", n, many, idle.Behind(), busy.Behind())
	}
	idle.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := <-a.Follow().Events; ok {
		t.Error("a closed node tells something")
	}
}
