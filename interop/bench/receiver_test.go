package bench

import (
	"testing"
)

func TestParseReceiver(t *testing.T) {
	for text, want := range map[string]Receiver{
		"C2": {"C", 2}, "AA17": {"AA", 17}, "": {}, "C": {}, "2": {}, "C-1": {"C-", 1}, "C2x": {},
	} {
		got, err := ParseReceiver(text)
		if got != want || (err == nil) != (want != Receiver{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
