package proto

import (
	"crypto/sha256"
	"reflect"
	"testing"
)

// TestPartial leaves out first, middle and last files.
func TestPartial(t *testing.T) {
	const piece = MinPieceLength
	m := &Manifest{Name: "x", PieceLength: piece, Entries: []Entry{
		{Path: "a", Kind: File, Size: 2 * piece},
		{Path: "b", Kind: File, Size: 1},
		{Path: "c", Kind: File, Size: 3 * piece},
		{Path: "d", Kind: File, Size: piece},
		{Path: "e", Kind: File, Size: 2 * piece},
	}, Hashes: make([]byte, 9*sha256.Size)}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	id, err := m.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for leave, want := range map[string][]int{
		"":      nil,
		"a":     {0, 1},
		"ace":   {0, 1, 3, 4, 7, 8},
		"b":     nil,
		"abcde": {0, 1, 2, 3, 4, 5, 6, 7, 8},
	} {
		out := map[string]bool{}
		for _, name := range leave {
			out[string(name)] = true
		}
		p := m.Partial(func(i int) bool { return out[m.Entries[i].Path] })
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		if got := p.LeftOutPieces(); !reflect.DeepEqual(got, want) {
			t.Errorf("without %q: %v, want %v", leave, got, want)
		}
		for i := range m.Entries {
			if p.LeavesOut(i) != out[m.Entries[i].Path] {
				t.Errorf("without %q: entry %d", leave, i)
			}
		}
		if got, err := p.Digest(); got != id || err != nil {
			t.Errorf("without %q: another digest, %v", leave, err)
		}
	}
}
