package netns

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func TestParseRate(t *testing.T) {
	for s, want := range map[string]Rate{"12.5MB": 12.5e6, "800KB": 8e5, "0.5MB": 5e5, "1GB": 1e9, ".5GB": 5e8, "100Mbit": 12.5e6} {
		if got, err := ParseRate(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, float64(got), err)
		}
	}
	for _, s := range []string{
		"", "MB", "3", "-3MB", "1e3MB", "0x1MB", "InfMB", "NaNMB", "1.2.3MB", "0MB", "0.1KB", "1000GB",
		"3mb", "3kbit", strings.Repeat("9", 400) + "MB",
	} {
		if r, err := ParseRate(s); err == nil {
			t.Errorf("%q is parsed as %v", s, r)
		}
	}
}

func TestParseLinks(t *testing.T) {
	got, err := ParseLinks(strings.NewReader("# three sites\n\nA B 3MB\n\tC\tA 800KB # slow\r\nC B 0.5GB"))
	if want := "A-B 3 MB/s, A-C 0.8 MB/s, B-C 500 MB/s"; err != nil || got.String() != want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := ParseLinks(strings.NewReader("# none\n")); err != nil || len(got.rates) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	broken := errors.New("broken")
	if _, err := ParseLinks(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error of the reader: %v", err)
	}
	for _, c := range []struct{ text, want string }{
		{"A B 3MB\nA B", "line 2: 2 words"},
		{"A B 3 MB", "line 1: 4 words"},
		{"A B 3MB\n# c\nB A 4MB", "line 3: duplicate link between B and A"},
		{"A A 3MB", "line 1: a link from A"},
		{"A B fast", `line 1: rate "fast"`},
		{"A B 1GB\nA C 0MB", "line 2: rate of 0"},
	} {
		if _, err := ParseLinks(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Links that are parsed can be written in the same form and parsed again, and a grid accepts each
// of them.
func FuzzParseLinks(f *testing.F) {
	for _, seed := range []string{
		"", "A B 3MB", "A B 3MB\nB C 0.8MB # slow\n", "A\tB 12.5GB\r\n", "A A 1KB", "A B 1e9MB",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		links, err := ParseLinks(strings.NewReader(text))
		if err != nil {
			return
		}
		var again strings.Builder
		for _, p := range links.pairs() {
			r := links.rates[p]
			if err := checkRate(r); err != nil || p.a == p.b {
				t.Fatalf("%s-%s: %v", p.a, p.b, err)
			}
			fmt.Fprintf(&again, "%s %s %.9fKB\n", p.b, p.a, float64(r/KBps))
		}
		if second, err := ParseLinks(strings.NewReader(again.String())); err != nil || second.String() != links.String() {
			t.Fatalf("%v, then %v (%v)", links, second, err)
		}
	})
}
