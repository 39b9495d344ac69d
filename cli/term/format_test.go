package term

import (
	"testing"
	"time"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Duration(1234 * time.Millisecond), "1.2s"},
		{Duration(59 * time.Second), "59s"},
		{Duration(61 * time.Second), "1m01s"},
		{Duration(2*time.Hour + 3*time.Minute), "2h03m"},
		{Duration(49 * time.Hour), "2d01h"},
		{Bytes(-1), "0 B"},
		{Bytes(999), "999 B"},
		{Bytes(3_000_000), "3.0 MB"},
		{Rate(12_000_000), "12 MB/s"},
		{Plural(1, "peer"), "1 peer"},
		{Plural(1200, "piece"), "1,200 pieces"},
		{Bar(0, 4, 4), "[    ]"},
		{Bar(3, 4, 4), "[=== ]"},
		{Bar(4, 4, 4), "[====]"},
		{Bar(0, 0, 2), "[==]"},
		{Left(30, 10), "3.0s left"},
		{Left(0, 10), ""},
		{Left(30, 0), ""},
		{Left(1e13, 1000), ""}, // 317 years, which a Duration cannot hold
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if Percent(999, 1000) != 99 || Percent(1000, 1000) != 100 || Percent(0, 0) != 100 {
		t.Error("100% means complete")
	}
	if Average(100, 0) != 0 || Average(100, 2*time.Second) != 50 {
		t.Error("average")
	}
}
