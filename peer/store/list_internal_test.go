package store

import (
	"io/fs"
	"math"
	"testing"
	"testing/fstest"
	"time"
)

// TestTimesOutOfRange checks that a time that a manifest cannot express becomes the nearest one, and compares equal.
func TestTimesOutOfRange(t *testing.T) {
	t.Parallel()
	for year, want := range map[int]int64{
		1600: math.MinInt64 + 1,
		1969: time.Date(1969, 1, 1, 0, 0, 0, 1, time.UTC).UnixNano(),
		9999: math.MaxInt64,
	} {
		files := fstest.MapFS{"a": {Mode: 0o644, ModTime: time.Date(year, 1, 1, 0, 0, 0, 1, time.UTC)}}
		info, err := fs.Stat(files, "a")
		if err != nil {
			t.Fatal(err)
		}
		e, err := newEntry("a", info)
		if err != nil || e.MTime != want {
			t.Errorf("year %d: %v, %v; want %v", year, time.Unix(0, e.MTime), err, time.Unix(0, want))
		}
		if !(&tree{files: NewFiles(1)}).hasMetadata(info, &e) {
			t.Errorf("year %d: the file differs from its entry", year)
		}
	}
}
