package transfer

import (
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
)

func TestGetFrame(t *testing.T) {
	half := peer.Status{ID: "baf", Name: "big", Phase: peer.Fetching, Length: 200e6, SwarmStatus: peer.SwarmStatus{
		Have: 100e6, Traffic: peer.Traffic{WANIn: 25e6, LANIn: 75e6}, Rate: peer.Traffic{WANIn: 5e6, LANIn: 15e6}, Connected: 3,
	}}
	waiting := half
	waiting.Waiting = "the disk"
	for _, c := range []struct {
		name string
		st   peer.Status
		want string
	}{
		{"moving", half, "big: 50%, 100 MB of 200 MB, 20 MB/s, 25% WAN 75% LAN, 5.0s left, 3 peers"},
		{"waiting", waiting, "big: 50%, waiting for the disk"},
		{"checking", peer.Status{Name: "big", Phase: peer.Checking, Length: 200, SwarmStatus: peer.SwarmStatus{Have: 20}}, "big: checking files, 10%"},
		{"seeking", peer.Status{ID: "baf", Phase: peer.Seeking, Length: -1}, "baf: looking for the content"},
		{"empty", peer.Status{Name: "empty", Phase: peer.Fetching}, "empty: 100%, 0 B of 0 B, 0 B/s, 0 peers"},
	} {
		if got := getFrame(c.st).Line(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, width := range []int{20, 40, 80, 200} {
			for _, l := range getFrame(c.st).Picture(width) {
				if w := runewidth.StringWidth(l); width >= 80 && w > width || strings.Contains(l, "\n") {
					t.Errorf("%s: %q has width %d of %d", c.name, l, w, width)
				}
			}
		}
	}
}

// A version that was not fetched is tried again, but not a command that failed.
func TestFollowFrame(t *testing.T) {
	for complete, want := range map[uint64]string{6: "", 7: "the next version is fetched when it is posted"} {
		f := followFrame(feed.Info{Name: "weights", Status: feed.Status{Newest: 7, Complete: complete, Error: "why"}})
		if f.Reason != "version 7: why" || f.Remedy != want {
			t.Errorf("version %d is complete: %q; %q", complete, f.Reason, f.Remedy)
		}
	}
}

func TestHashFrame(t *testing.T) {
	for _, c := range []struct {
		frame term.State
		want  string
	}{
		{hashFrame("big", 250e9, 1000e9, 90*time.Second), "big: 25% of 1.0 TB hashed, 2.8 GB/s, 4m30s left"},
		{hashFrame("big", 0, 1000e9, 0), "big: 0% of 1.0 TB hashed, 0 B/s"},
		{hashFrame("big", 100e6, 100e6, time.Second), "big: 100% of 100 MB hashed, 100 MB/s"},
	} {
		if got := c.frame.Line(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		for _, l := range c.frame.Picture(80) {
			if w := runewidth.StringWidth(l); w > 80 {
				t.Errorf("%q has width %d", l, w)
			}
		}
	}
}

func TestReceipt(t *testing.T) {
	r := newReceipt(peer.Status{
		Length:      100,
		Elapsed:     2 * time.Second,
		SwarmStatus: peer.SwarmStatus{Duplicate: 10, Traffic: peer.Traffic{WANIn: 40, LANIn: 30}},
	})
	if r.Levels != nil || r.Present != 40 || r.Rate != 30 || r.FromWAN != 40 || r.FromLAN != 30 || r.Duplicate != 10 {
		t.Errorf("%+v", r)
	}
}
