package cli

import (
	"testing"
	"time"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{formatDuration(1234 * time.Millisecond), "1.2s"},
		{formatDuration(59 * time.Second), "59s"},
		{formatDuration(61 * time.Second), "1m01s"},
		{formatDuration(2*time.Hour + 3*time.Minute), "2h03m"},
		{formatDuration(49 * time.Hour), "2d01h"},
		{formatBytes(-1), "0 B"},
		{formatBytes(999), "999 B"},
		{formatBytes(3_000_000), "3.0 MB"},
		{formatRate(12_000_000), "12 MB/s"},
		{plural(1, "peer"), "1 peer"},
		{plural(1200, "piece"), "1,200 pieces"},
		{bar(0, 4, 4), "[    ]"},
		{bar(3, 4, 4), "[=== ]"},
		{bar(4, 4, 4), "[====]"},
		{bar(0, 0, 2), "[==]"},
		{timeLeft(30, 10), "3.0s left"},
		{timeLeft(0, 10), ""},
		{timeLeft(30, 0), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if percent(999, 1000) != 99 || percent(1000, 1000) != 100 || percent(0, 0) != 100 {
		t.Error("100% means complete")
	}
	if average(100, 0) != 0 || average(100, 2*time.Second) != 50 {
		t.Error("average")
	}
}
