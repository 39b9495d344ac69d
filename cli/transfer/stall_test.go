package transfer

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/proto"
)

// TestStandstill shows a transfer that moves for 30 s, stands still, and moves again. With quiet and without, a line
// reports it after ten seconds and then each minute.
func TestStandstill(t *testing.T) {
	t.Parallel()
	for _, quiet := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := (&command.Env{Err: &out, Getenv: func(string) string { return "" }}).Screen(quiet)
			began := time.Now()
			var at []time.Duration
			show := func(st peer.Status, seconds int, moves bool) {
				for range seconds {
					if moves {
						st.Have++
					}
					n := strings.Count(out.String(), "no progress for ")
					p.Show(getFrame(st))
					if strings.Count(out.String(), "no progress for ") > n {
						at = append(at, time.Since(began))
					}
					time.Sleep(time.Second)
				}
			}
			st := peer.Status{Name: "big", Phase: peer.Fetching, Length: 1e6, SwarmStatus: peer.SwarmStatus{Waiting: "the disk"}}
			show(st, 30, true)
			st.Have = 30
			show(st, 140, false)
			if !p.Stalled {
				t.Error("the transfer does not stand still")
			}
			show(st, 9, true)
			if p.Stalled {
				t.Error("the transfer stands still")
			}
			if len(at) != 3 || at[0] != 39*time.Second || at[1] != at[0]+time.Minute || at[2] != at[1]+time.Minute {
				t.Errorf("reports after %v", at)
			}
			for _, want := range []string{"no progress for 10s: waiting for the disk; ", "no progress for 1m10s: ", "no progress for 2m10s: "} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
			if shown := strings.Contains(out.String(), "big: "); shown == quiet {
				t.Errorf("quiet %v:\n%s", quiet, &out)
			}
		})
	}
}

// TestWaitsFor checks the reasons and remedies of the frames of commands.
func TestWaitsFor(t *testing.T) {
	t.Parallel()
	get := peer.Status{Phase: peer.Fetching, Length: 100, SwarmStatus: peer.SwarmStatus{Have: 50, Connected: 2}}
	with := func(change func(*peer.Status)) term.Progress {
		st := get
		change(&st)
		return getFrame(st)
	}
	for _, c := range []struct {
		name         string
		m            term.Progress
		what, remedy string // "" for neither
	}{
		{"no source", with(func(st *peer.Status) {
			st.Phase, st.Length, st.Waiting = peer.Seeking, -1, "looking for the manifest: no peer"
		}),
			"looking for the manifest: no peer", "is the source running?"},
		{"no peer", with(func(st *peer.Status) { st.Connected, st.Waiting = 0, "peers: none" }), "waiting for peers: none", "start the source again"},
		{"missing pieces", with(func(st *peer.Status) { st.Waiting = "5 pieces" }), "waiting for 5 pieces", "`mob seed` the content again"},
		{"slow peers", getFrame(get), "waiting for blocks of 2 peers", "`mob status`"},
		{"disk", with(func(st *peer.Status) { st.Have, st.Waiting = 100, "the disk" }), "waiting for the disk", "has it room?"},
		{"checking", with(func(st *peer.Status) { st.Phase = peer.Checking }), "checking files", "does the disk answer"},
		{"away", with(func(st *peer.Status) { st.Phase, st.Waiting = peer.Checking, "x: put it back" }), "waiting for x: put it back", ""},
		{"hashing", hashFrame("x", 5e6, 1e7, time.Second), "5.0 MB of 10 MB hashed", "does the disk answer"},
		{"listing", hashFrame("x", 0, 0, time.Second), "looking at the files", "does the disk answer"},
		{"other nodes", waitFrame(peer.Status{SwarmStatus: peer.SwarmStatus{WholeNodes: 1}}, 2, proto.Scrape{}, nil), "1 of 2 other nodes complete", "`mob get`"},
	} {
		what, remedy := c.m.Waiting()
		if !strings.HasPrefix(what, c.what) || (what == "") != (c.what == "") ||
			!strings.Contains(remedy, c.remedy) || (remedy == "") != (c.remedy == "") {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, what, remedy, c.what, c.remedy)
		}
	}
}
