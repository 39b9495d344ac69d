package proto

import (
	"strings"
	"testing"
)

func TestSingleEntryMustBeFile(t *testing.T) {
	for _, kind := range []EntryKind{Dir, Symlink} {
		m := file(0)
		m.Entries[0].Kind = kind
		checkError(t, m.Validate(), "must be a file")
	}
}

func TestCheckPath(t *testing.T) {
	element := strings.Repeat("e", MaxElement)
	longest := strings.Repeat(element+"/", 16)
	for _, tt := range []struct{ path, want string }{
		{"a", ""},
		{"a/b/c", ""},
		{"a\\b", ""},
		{"...", ""},
		{"..a/.b", ""},
		{"\xff\xfe\n", ""},
		{element, ""},
		{longest[:MaxPath-1], ""},
		{longest + "x", "path of 4097 bytes"},
		{"", "without a path"},
		{"/a", "absolute"},
		{"a//b", `element ""`},
		{"a/", `element ""`},
		{".", `element "."`},
		{"a/./b", `element "."`},
		{"..", `element ".."`},
		{"a/../b", `element ".."`},
		{"a\x00b", "NUL"},
		{element + "e", "element of 256 bytes"},
	} {
		checkError(t, checkPath(tt.path), tt.want)
	}
}

func TestCheckTarget(t *testing.T) {
	for _, tt := range []struct{ path, target, want string }{
		{"l", "a", ""},
		{"l", ".", ""},
		{"l", "./a//b/", ""},
		{"d/l", "..", ""},
		{"d/l", "./.././a", ""},
		{"d/e/l", "../../a", ""},
		{"l", "\xff", ""},
		{"l", "", "target of 0 bytes"},
		{"l", strings.Repeat("a", MaxPath+1), "target of 4097 bytes"},
		{"l", "a\x00", "NUL"},
		{"l", "/etc/passwd", "absolute"},
		{"l", "..", "outside"},
		{"l", "../a", "outside"},
		{"d/l", "../../a", "outside"},
		{"d/l", ".././../a", "outside"},
		{"d/l", "a/../b", "after a name"},
		{"d/e/l", "up/../x", "after a name"},
	} {
		checkError(t, checkTarget(tt.path, tt.target), tt.want)
	}
}
