package bench

import (
	"slices"
	"testing"
	"time"
)

func TestParseKills(t *testing.T) {
	for text, want := range map[string]Kills{
		"10%@5s":     {Percent: 10, After: 5 * time.Second},
		"10%@5s+2s":  {Percent: 10, After: 5 * time.Second, Every: 2 * time.Second},
		"2.5%@300ms": {Percent: 2.5, After: 300 * time.Millisecond},
		"":           {}, "10%": {}, "10@5s": {}, "%@5s": {}, "0%@5s": {}, "101%@5s": {}, "-1%@5s": {}, "NaN%@5s": {},
		"10%@-5s": {}, "10%@5": {}, "10%@5s+": {}, "10%@5s+0s": {}, "10%@5s+-1s": {},
	} {
		got, err := ParseKills(text)
		if got != want || (err == nil) != (want != Kills{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err == nil && got.String() != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestVictims(t *testing.T) {
	c := testCase(t, "4x4", 1e6)
	c.Kills = Kills{Percent: 20, After: 5 * time.Second, Every: 2 * time.Second}
	v := c.Victims()
	if len(v) != 3 || v[0].At != 5*time.Second || v[2].At != 9*time.Second {
		t.Fatalf("%v, want three of fifteen, one every two seconds", v)
	}
	if !slices.Equal(v, c.Victims()) {
		t.Error("the same seed kills other nodes")
	}
	seen := map[Receiver]bool{}
	for seed := range uint64(50) {
		c.Seed = seed
		for _, v := range c.Victims() {
			seen[v.Receiver] = true
		}
	}
	if seen[Receiver{"A", 0}] || len(seen) != 15 {
		t.Errorf("%d nodes are killed by some seed: %v", len(seen), seen)
	}
	c.Kills.Percent = 0.1
	if n := len(c.Victims()); n != 1 {
		t.Errorf("%d are killed, want at least one", n)
	}
}
