package metadata

import (
	"strings"
	"testing"

	"github.com/mobgrid/mob/proto"
)

func TestSelections(t *testing.T) {
	m := &proto.Manifest{Name: "x", PieceLength: proto.MinPieceLength, Entries: []proto.Entry{
		{Path: "a", Kind: proto.Dir},
		{Path: "a/b", Kind: proto.Dir},
		{Path: "a/b/x.bin", Kind: proto.File, Size: 100},
		{Path: "a/x.txt", Kind: proto.File, Size: 10},
		{Path: "c", Kind: proto.Dir},
		{Path: "link", Kind: proto.Symlink, Target: "x.txt"},
		{Path: "x.txt", Kind: proto.File, Size: 1},
	}, Hashes: make([]byte, 32)}
	for _, c := range []struct {
		include, exclude string
		want             string
	}{
		{"x.txt", "", "x.txt"},
		{"*.txt", "", "x.txt"},
		{"**/*.txt", "", "a a/x.txt x.txt"},
		{"a", "", "a a/b a/b/x.bin a/x.txt"},
		{"/a/b/", "", "a a/b a/b/x.bin"},
		{"a/**", "a/b", "a a/x.txt"},
		{"**/b/*", "", "a a/b a/b/x.bin"},
		{"a/**/x.*", "", "a a/b a/b/x.bin a/x.txt"},
		{"", "**/*.bin", "a a/b a/x.txt c link x.txt"},
		{"", "a", "c link x.txt"},
		{"x.txt c", "", "c x.txt"},
		{"link", "", ""},
		{"A", "", ""},
	} {
		s := Selection{strings.Fields(c.include), strings.Fields(c.exclude)}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		part, err := Selections{s}.Of(m)
		if err != nil {
			if c.want != "" {
				t.Errorf("%v: %v", s, err)
			}
			continue
		}
		var got []string
		for i, e := range part.Entries {
			if !part.LeavesOut(i) {
				got = append(got, e.Path)
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%v selects %q, want %q", s, got, c.want)
		}
	}
	two := Selections{{Include: []string{"x.txt"}}, {Include: []string{"a/x.txt"}}}
	part, err := two.Of(m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := LeftOutOf(part, m), (LeftOut{Files: 1, Bytes: 100}); got != want {
		t.Errorf("left out are %+v, want %+v", got, want)
	}
}

func TestSelectionErrors(t *testing.T) {
	for _, glob := range []string{"", "/", "a//b", "[", "a/[b"} {
		if (Selection{Include: []string{glob}}).Check() == nil {
			t.Errorf("%q is accepted", glob)
		}
	}
	file := &proto.Manifest{Name: "x", PieceLength: proto.MinPieceLength, Entries: []proto.Entry{{Kind: proto.File}}}
	if _, err := (Selections{{Include: []string{"**"}}}).Of(file); err == nil {
		t.Error("a single file is selected")
	}
	// Backtracking to all earlier ** would take for ever.
	if matchesGlob(elements(strings.Repeat("**/a/", 30)+"b"), elements(strings.Repeat("a/", 200))) {
		t.Error("matches")
	}
}
