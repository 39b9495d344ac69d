package peer

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeepFor lets time pass over transfers that are kept for a day.
func TestKeepFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		list := []kept{
			{number: 1, complete: true, since: began.Add(-24 * time.Hour), used: began},
			{number: 2, complete: true, fetched: true, since: began},
			{number: 3, complete: false, fetched: true, since: began}, // being fetched
		}
		k := Keep{For: 24 * time.Hour}
		var at []time.Duration
		for ends := 0; ends < 2 && time.Since(began) < 30*time.Hour; time.Sleep(keepEvery) {
			for _, e := range k.ended(slices.Clone(list), time.Now()) {
				at = append(at, time.Since(began))
				list = slices.DeleteFunc(list, func(c kept) bool { return c.number == e.number })
				ends++
			}
		}
		// The first is used at the beginning, and ends keepIdle later.
		if !slices.Equal(at, []time.Duration{keepIdle, 24 * time.Hour}) {
			t.Errorf("ended after %v", at)
		}
		if len(list) != 1 || list[0].number != 3 {
			t.Errorf("left: %+v", list)
		}
	})
}

// TestKeepClockSetBack sets the clock back after transfers completed. None ends early, and the
// oldest is still the first to end for the disk.
func TestKeepClockSetBack(t *testing.T) {
	now := time.Now().Round(0)
	back := now.Add(-1000 * time.Hour)
	list := []kept{
		{number: 8, complete: true, fetched: true, bytes: 60, since: back.Add(-time.Hour), used: back.Add(-time.Hour)}, // after the clock was set back
		{number: 7, complete: true, fetched: true, bytes: 50, since: now, used: back.Add(-time.Hour)},
	}
	if ends := (Keep{For: 24 * time.Hour, Delete: true}).ended(list, back); len(ends) > 0 {
		t.Errorf("ended %+v", ends)
	}
	ends := Keep{Disk: 100, Delete: true}.ended(list, back)
	if len(ends) != 1 || ends[0].number != 7 {
		t.Errorf("ended %+v, want the older one", ends)
	}
	list[0].used, list[1].used = now, now // in the future
	if ends := (Keep{Disk: 1, Delete: true}).ended(list, back); len(ends) > 0 {
		t.Errorf("ended %+v, which are in use", ends)
	}
}

// TestKeepDisk limits the disk. Transfers in use, incomplete ones and seeds are kept.
func TestKeepDisk(t *testing.T) {
	now := time.Now()
	idle := now.Add(-time.Hour)
	list := []kept{
		{number: 1, complete: true, fetched: false, bytes: 1000, used: idle}, // a seed
		{number: 2, complete: true, fetched: true, bytes: 40, used: now},     // in use
		{number: 3, complete: false, fetched: true, bytes: 40, used: idle},   // stopped half way
		{number: 4, complete: true, fetched: true, bytes: 40, used: idle},
		{number: 5, complete: true, fetched: true, bytes: 40, used: idle},
		{number: 6, complete: true, fetched: true, bytes: 40, used: idle},
	}
	for disk, want := range map[int64]int{200: 0, 199: 1, 120: 2, 119: 3, 1: 3} {
		ends := Keep{Disk: disk, Delete: true}.ended(slices.Clone(list), now)
		for i, e := range ends {
			if e.number != int64(4+i) {
				t.Errorf("%d bytes: content %d ends", disk, e.number)
			}
		}
		if len(ends) != want {
			t.Errorf("%d bytes: %d transfers end, want %d", disk, len(ends), want)
		}
	}
}
