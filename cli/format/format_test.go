package format

import (
	"testing"
	"time"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Span(1234 * time.Millisecond), "1.2s"},
		{Span(59 * time.Second), "59s"},
		{Span(61 * time.Second), "1m01s"},
		{Span(2*time.Hour + 3*time.Minute), "2h03m"},
		{Span(49 * time.Hour), "2d01h"},
		{Size(-1), "0 B"},
		{Size(999), "999 B"},
		{Size(3_000_000), "3.0 MB"},
		{Rate(12_000_000), "12 MB/s"},
		{Count(1, "peer"), "1 peer"},
		{Count(1200, "piece"), "1,200 pieces"},
		{Bar(0, 4, 4), "[    ]"},
		{Bar(3, 4, 4), "[=== ]"},
		{Bar(4, 4, 4), "[====]"},
		{Bar(0, 0, 2), "[==]"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if Percent(999, 1000) != 99 || Percent(1000, 1000) != 100 || Percent(0, 0) != 100 {
		t.Error("100% means whole")
	}
	if Average(100, 0) != 0 || Average(100, 2*time.Second) != 50 {
		t.Error("average")
	}
}
