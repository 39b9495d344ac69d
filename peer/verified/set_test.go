package verified

import "testing"

func TestSet(t *testing.T) {
	t.Parallel()
	s := New(65)
	if !s.Add(64) || s.Add(64) || !s.Has(64) || s.Has(63) {
		t.Error("piece 64 is not the one that is there, or is new twice")
	}
	if s.Remove(64); s.Has(64) {
		t.Error("what was taken out is there")
	}
	if s.Has(1 << 20) {
		t.Error("a piece beyond the end is there")
	}
}
