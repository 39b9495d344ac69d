package metainfo

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anacrolix/torrent/bencode"

	"github.com/mobgrid/mob/proto"
)

// manifest is a valid manifest with these entries.
func manifest(t *testing.T, name string, entries ...proto.Entry) *proto.Manifest {
	t.Helper()
	m := &proto.Manifest{Name: name, PieceLength: 256 << 10, Entries: entries}
	m.Hashes = make([]byte, m.Pieces()*sha256.Size)
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

// zeroHashes is a hash of zeros for each piece of m.
func zeroHashes(m *proto.Manifest) []byte { return make([]byte, m.Pieces()*sha1.Size) }

func file(path string, size int64) proto.Entry {
	return proto.Entry{Path: path, Kind: proto.File, Size: size, Mode: 0o644}
}

func dir(path string) proto.Entry { return proto.Entry{Path: path, Kind: proto.Dir, Mode: 0o755} }

// filesOf returns the files of a torrent with their sizes.
func filesOf(tor *Torrent) (files []string) {
	for _, e := range tor.Manifest.Entries {
		if e.Kind != proto.Dir {
			files = append(files, fmt.Sprint(e.Path, " ", e.Size))
		}
	}
	return files
}

// TestMemory parses torrents of a peer that makes them as expensive as it can.
func TestMemory(t *testing.T) {
	const size = 1 << 20
	rest := func(value string, n int) string { return strings.Repeat(value, n/len(value)) }
	for name, b := range map[string]string{
		"strings of an unknown key": info("5:filesld1:zl" + rest("1:a", size) + "eee"),
		"dictionaries as keys":      info("5:filesld1:zd" + rest("0:de", size) + "eee"),
		"lists of files":            info("5:filesll" + rest("de", size) + "eee"),
		"empty files":               info("5:filesl" + rest("de", size) + "e"),
		"empty elements of a path":  info("5:filesld4:pathl" + rest("0:", size) + "eee"),
		"keys":                      info(manyKeys(size / 10)),
		"announce URLs":             "d13:announce-listl" + rest("0:", size) + "e4:info" + info(oneName) + "e",
		"levels of announce URLs":   "d13:announce-list" + strings.Repeat("l", 60) + rest("1:u", size) + strings.Repeat("e", 60) + "4:info" + info(oneName) + "e",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, infoErr := ParseInfo([]byte(b))
		_, err := Parse([]byte(b))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*size || infoErr == nil || err == nil {
			t.Errorf("%s: %d bytes for %d; errors %.100v, %.100v", name, used, len(b), infoErr, err)
		}
	}
}

// TestBuildFile checks the info-hash against the one of libtorrent 2.0.8 for the same file.
func TestBuildFile(t *testing.T) {
	content := make([]byte, 600_000)
	for i := range content {
		content[i] = byte(i*7 + i/256)
	}
	m := manifest(t, "content.bin", file("", int64(len(content))))
	var hashes []byte
	for i := range m.Pieces() {
		sum := sha1.Sum(content[m.PieceOffset(i):][:m.PieceSize(i)])
		hashes = append(hashes, sum[:]...)
	}
	tor, err := Build(m, hashes)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tor.Hash.String(), "a51801dc8a407273d8477c714de976e77b858bc0"; got != want {
		t.Errorf("info-hash %s, want %s", got, want)
	}
	if got := tor.Manifest; !bytes.Equal(got.SHA1, hashes) || got.Pieces() != 3 || got.Length() != 600_000 {
		t.Errorf("got %+v", got)
	}
	if err := tor.Match(m); err != nil {
		t.Error(err)
	}
}

func TestBuildDirectory(t *testing.T) {
	m := manifest(t, "models é",
		dir("a"), file("a b", 5), proto.Entry{Path: "a/link", Kind: proto.Symlink, Target: "../a b"},
		dir("a/none"), dir("a/none/deep"),
		file("a/ü", 300_000), dir("b"), dir("b/c"), file("b/c/empty", 0), file(strings.Repeat("x", 255), 1))
	tor, err := Build(m, zeroHashes(m))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a b 5", "a/ü 300000", "b/c/empty 0", strings.Repeat("x", 255) + " 1"}
	if got := filesOf(tor); !slices.Equal(got, want) || tor.Manifest.Pieces() != 2 {
		t.Errorf("got %q", got)
	}
	if links, dirs := Unsupported(m); links != 1 || dirs != 2 {
		t.Errorf("%d links and %d empty directories, want 1 and 2", links, dirs)
	}
	again, err := Build(m, zeroHashes(m))
	if err != nil || !bytes.Equal(again.Info, tor.Info) {
		t.Errorf("built again: %v", err)
	}
	if err := tor.Match(m); err != nil {
		t.Error(err)
	}
}

func TestBuildErrors(t *testing.T) {
	for _, tt := range []struct {
		m    *proto.Manifest
		want string
	}{
		{manifest(t, "empty"), "empty"},
		{manifest(t, "nothing", file("", 0)), "empty"},
		{manifest(t, "latin", file("caf\xe9", 1)), "not UTF-8"},
	} {
		if _, err := Build(tt.m, zeroHashes(tt.m)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.m.Name, err, tt.want)
		}
	}
	m := manifest(t, "x", file("", 1))
	if _, err := Build(m, nil); err == nil || !strings.Contains(err.Error(), "0 bytes of SHA-1 for 1 pieces") {
		t.Errorf("without hashes: %v", err)
	}
}

// TestInfoLimit builds the largest info dictionary, and one beyond the limit.
func TestInfoLimit(t *testing.T) {
	m := &proto.Manifest{
		Name:        "huge",
		PieceLength: proto.MaxPieceLength,
		Entries:     []proto.Entry{file("", (MaxInfo/sha1.Size-10)*proto.MaxPieceLength)},
	}
	if _, err := Build(m, zeroHashes(m)); err != nil {
		t.Error(err)
	}
	m.Entries[0].Size += 20 * proto.MaxPieceLength
	if _, err := Build(m, zeroHashes(m)); err == nil || !strings.Contains(err.Error(), "at most 33554432") {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestMatch(t *testing.T) {
	m := manifest(t, "d", file("a", 10), file("b", 20))
	tor, err := Build(m, zeroHashes(m))
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]*proto.Manifest{
		"longer":          manifest(t, "d", file("a", 10), file("b", 21)),
		"one file more":   manifest(t, "d", file("a", 10), file("b", 20), file("c", 0)),
		"other sizes":     manifest(t, "d", file("a", 20), file("b", 10)),
		"another name":    manifest(t, "d", file("a", 10), file("c", 20)),
		"one file":        manifest(t, "d", file("", 30)),
		"another padding": manifest(t, "d", file("a", 10), file("b", 20), proto.Entry{Kind: proto.Pad, Size: 1}),
	} {
		if tor.Match(other) == nil {
			t.Errorf("%s matches", name)
		}
	}
	if err := tor.Match(manifest(t, "another name", file("a", 10), file("b", 20))); err != nil {
		t.Error(err)
	}
}

func TestFileRoundTrip(t *testing.T) {
	m := manifest(t, "x", file("", 300_000))
	tor, err := Build(m, zeroHashes(m))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []*Metainfo{
		{Torrent: tor},
		{Torrent: tor, Trackers: [][]string{{"http://192.0.2.1:6969/announce"}}},
		{
			Torrent:   tor,
			Trackers:  [][]string{{"http://a/announce", "udp://b:1"}, {"http://c/"}},
			Comment:   "c",
			CreatedBy: "mob",
			Created:   time.Unix(1e9, 0).UTC(),
		},
	} {
		b, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// info is an info dictionary of these parts, which are sorted.
func info(parts ...string) string { return "d" + strings.Join(parts, "") + "e" }

const (
	oneName  = "4:name1:x"
	oneSize  = "12:piece lengthi262144e"
	onePiece = "6:pieces20:aaaaaaaaaaaaaaaaaaaa"
)

// fileList is a list of files of 1 byte. Each path is a list of bencoded elements.
func fileList(paths ...string) string {
	text := "5:filesl"
	for _, p := range paths {
		text += "d6:lengthi1e4:pathl" + p + "ee"
	}
	return text + "e"
}

// element is a bencoded string.
func element(s string) string { return fmt.Sprintf("%d:%s", len(s), s) }

func TestParseInfo(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"single", info("6:lengthi9e", oneName, oneSize, onePiece), `x 9 [ 9]`},
		{"folder", info(fileList("1:a1:b", "1:a1:c"), oneName, oneSize, onePiece), `x 2 [a/b 1 a/c 1]`},
		{"unknown keys", info("6:lengthi9e", oneName, oneSize, onePiece, "1:zd1:al1:bi-5eee"), `x 9 [ 9]`},
		{"better names", info("5:filesld6:lengthi1e4:pathl1:aee", "d6:lengthi1e4:pathl1:qe10:path.utf-8l2:éeee", oneName, "10:name.utf-82:ü", oneSize, onePiece), `ü 2 [a 1 é 1]`},
		{"padding twice", info("5:filesl", "d6:lengthi1e4:pathl1:aee", "d4:attr1:p6:lengthi5e4:pathl4:.pad1:5ee",
			"d6:lengthi1e4:pathl1:bee", "d4:attr1:p6:lengthi5e4:pathl4:.pad1:5ee", "e", oneName, oneSize, onePiece), `x 12 [a 1  5 b 1  5]`},
		{"hybrid", info("9:file treed1:xd0:d6:lengthi9e11:pieces root32:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaeee", "6:lengthi9e", "12:meta versioni2e", oneName, oneSize, onePiece), `x 9 [ 9]`},
		{"keys not sorted", info(onePiece, oneSize, oneName, fileList("1:a"), "4:attrle"), `x 1 [a 1]`},
		{"odd values that are not used", info("6:lengthi9e", oneName, "1:bi1.5e1:ai-0e", oneSize, onePiece), `x 9 [ 9]`},
		{"many keys", info("6:lengthi9e", oneName, oneSize, onePiece, manyKeys(40)), `x 9 [ 9]`},
		{"longest name", info("6:lengthi9e", "4:name255:"+strings.Repeat("n", 255), oneSize, onePiece), strings.Repeat("n", 255) + ` 9 [ 9]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tor, err := ParseInfo([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(tor.Manifest.Name, " ", tor.Manifest.Length(), " ", filesOf(tor)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if want := sha1.Sum([]byte(tt.in)); tor.Hash != want {
				t.Errorf("info-hash %v", tor.Hash)
			}
		})
	}
}

func TestParseInfoErrors(t *testing.T) {
	folder := func(paths ...string) string { return info(fileList(paths...), oneName, oneSize, onePiece) }
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "want a dictionary"},
		{"a list", "le", "want a dictionary"},
		{"cut", "d4:name", "truncated"},
		{"cut string", "d4:name10:x", "truncated"},
		{"more after it", info("6:lengthi9e", oneName, oneSize, onePiece) + "x", "1 bytes after the end"},
		{"key twice", info("6:lengthi9e", "6:lengthi9e"), "duplicate key"},
		{"key twice, not sorted", info("6:lengthi9e", oneName, "6:lengthi9e"), "duplicate key"},
		{"no name", info("6:lengthi9e", oneSize, onePiece), "no name"},
		{"name of a path", info("6:lengthi9e", "4:name4:../x", oneSize, onePiece), "has a slash"},
		{"name of dots", info("6:lengthi9e", "4:name2:..", oneSize, onePiece), "is not a file name"},
		{"escape in the name", info("6:lengthi9e", "4:name2:\x1bx", oneSize, onePiece), "control character"},
		{"long name", info("6:lengthi9e", "4:name256:"+strings.Repeat("n", 256), oneSize, onePiece), "256 bytes, want 1 to 255"},
		{"name of a number", info("6:lengthi9e", "4:namei1e"), "name: want a string"},
		{"up", folder("2:.."), `has the element ".."`},
		{"up between names", folder("1:a2:..1:b"), `has the element ".."`},
		{"absolute", folder("4:/etc"), "has a slash"},
		{"empty element", folder("0:1:a"), "is empty"},
		{"no element", folder(""), "has no path"},
		{"NUL", folder("3:a\x00b"), "has a NUL"},
		{"not UTF-8", folder("1:\xff"), "not UTF-8"},
		{"long element", folder(element(strings.Repeat("e", 256))), "256 bytes, at most 255"},
		{"long path", folder(strings.Repeat(element(strings.Repeat("e", 200)), 21)), "more than 4096 bytes"},
		{"twice", folder("1:a", "1:b", "1:a"), `duplicate path "a"`},
		{"below a file", folder("1:a1:b", "3:a-c", "1:a"), `duplicate path "a"`},
		{"link", info("5:filesld4:attr1:l6:lengthi0e4:pathl1:aee", "e", oneName, oneSize, onePiece), "symbolic link"},
		{"file without a length", info("5:filesld4:pathl1:aee", "e", oneName, oneSize, onePiece), "no length"},
		{"file of a negative length", info("5:filesld6:lengthi-1e4:pathl1:aee", "e", oneName, oneSize, onePiece), "negative size -1"},
		{"negative", info("6:lengthi-9e", oneName, oneSize, onePiece), "negative size -9"},
		{"huge", info("6:lengthi999999999999999999e", oneName, oneSize, onePiece), "content of more than"},
		{"overflow", info("6:lengthi9223372036854775807e", oneName, oneSize, onePiece), "content of more than"},
		{"sum overflows", info("5:filesl", strings.Repeat("d6:lengthi900000000000000000e4:pathl1:aee", 12), "e", oneName, oneSize, onePiece), "duplicate path"},
		{"leading zero", info("6:lengthi09e", oneName, oneSize, onePiece), "is not an integer"},
		{"minus zero", info("6:lengthi-0e", oneName, oneSize, onePiece), "is not an integer"},
		{"empty", info("6:lengthi0e", oneName, oneSize, "6:pieces0:"), "the content is empty"},
		{"both", info(fileList("1:a"), "6:lengthi9e", oneName, oneSize, onePiece), "either a length or a list"},
		{"neither", info(oneName, oneSize, onePiece), "either a length or a list"},
		{"more pieces", info("6:lengthi9e", oneName, oneSize, "6:pieces40:"+strings.Repeat("a", 40)), "40 bytes of SHA-1 for 9 bytes"},
		{"part of a piece", info("6:lengthi9e", oneName, oneSize, "6:pieces19:"+strings.Repeat("a", 19)), "19 bytes of SHA-1"},
		{"no pieces", info("6:lengthi9e", oneName, oneSize), "no hashes"},
		{"no piece length", info("6:lengthi9e", oneName, onePiece), "no piece length"},
		{"odd pieces", info("6:lengthi9e", oneName, "12:piece lengthi300000e", onePiece), "piece length 300000, want a power of two"},
		{"small pieces", info("6:lengthi9e", oneName, "12:piece lengthi8192e", onePiece), "pieces have 8192 bytes"},
		{"large pieces", info("6:lengthi9e", oneName, "12:piece lengthi536870912e", onePiece), "pieces have 536870912 bytes"},
		{"v2 only", info("9:file treed1:xd0:d6:lengthi9eeee", "12:meta versioni2e", oneName, oneSize), "BitTorrent v2 only"},
		{"deep", info("1:a" + strings.Repeat("l", 100) + strings.Repeat("e", 100)), "more than 64 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseInfo([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%.300v, want %q", err, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	good := info("6:lengthi9e", oneName, oneSize, onePiece)
	for _, tt := range []struct{ name, in, want string }{
		{"web page", "<html>", "want a dictionary"},
		{"no info", "d8:announce1:ue", "no info dictionary"},
		{"info of a number", "d4:infoi1ee", "want a dictionary"},
		{"bad info", "d4:info" + info(oneName) + "e", "no piece length"},
		{"cut after the info dictionary", "d4:info" + good, "truncated"},
		{"info twice", "d4:info" + good + "8:announce1:u4:info" + good + "e", "duplicate key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%.300v, want %q", err, tt.want)
			}
		})
	}
}

// TestParseLiberally parses torrent files that clients accept, with trackers, times and texts
// that break BEP 3 and BEP 12. The info-hash is the SHA-1 of the bytes in the file.
func TestParseLiberally(t *testing.T) {
	good := info("6:lengthi9e", oneName, oneSize, onePiece)
	unsorted := info(onePiece, oneSize, oneName, "6:lengthi9e")
	for _, tt := range []struct{ name, in, want string }{
		{"repeated keys", "d8:announce3:u:17:comment1:c8:announce3:u:27:comment1:d4:info" + good + "e", "[[u:1]] c"},
		{"newline behind it", "d4:info" + good + "e\n", "[] "},
		{"a page behind it", "d4:info" + good + "e\r\n\x00<html>", "[] "},
		{"keys not sorted", "d4:info" + unsorted + "8:announce3:u:1" + "7:comment1:ce", "[[u:1]] c"},
		{"announce of a list", "d8:announcel3:u:13:u:2e4:info" + good + "e", "[[u:1]] "},
		{"announce of a number", "d8:announcei1e4:info" + good + "e", "[] "},
		{"announce of spaces", "d8:announce6: u:1 \n4:info" + good + "e", "[[u:1]] "},
		{"announce-list of a string", "d13:announce-list3:u:14:info" + good + "e", "[[u:1]] "},
		{"announce-list of strings", "d13:announce-listl3:u:13:u:2e4:info" + good + "e", "[[u:1] [u:2]] "},
		{"announce-list of both", "d13:announce-listll3:u:1e3:u:2e4:info" + good + "e", "[[u:1] [u:2]] "},
		{"announce-list of nothing", "d8:announce3:u:013:announce-listllel0:ee4:info" + good + "e", "[[u:0]] "},
		{"empty announce-list", "d8:announce3:u:013:announce-listle4:info" + good + "e", "[[u:0]] "},
		{"empty tiers", "d13:announce-listllel3:u:1ee4:info" + good + "e", "[[u:1]] "},
		{"announce-list of numbers", "d8:announce3:u:013:announce-listli1eli2eee4:info" + good + "e", "[[u:0]] "},
		{"announce-list of a dictionary", "d8:announce3:u:013:announce-listd1:al1:bee4:info" + good + "e", "[[u:0]] "},
		{"comment of a list", "d7:commentl1:a1:be10:created byi1e4:info" + good + "e", "[] "},
		{"date", "d13:creation datei1700000000e4:info" + good + "e", "[] 2023-11-14"},
		{"date of a string", "d13:creation date10:17000000004:info" + good + "e", "[] 2023-11-14"},
		{"date of words", "d13:creation date9:yesterday4:info" + good + "e", "[] "},
		{"date before 1970", "d13:creation datei-1e4:info" + good + "e", "[] "},
		{"date of a fraction", "d13:creation datei1.7e4:info" + good + "e", "[] "},
		{"date in milliseconds", "d13:creation datei1700000000000e4:info" + good + "e", "[] "},
		{"date of many digits", "d13:creation datei17000000000000000000000e4:info" + good + "e", "[] "},
		{"date of a list", "d13:creation datele4:info" + good + "e", "[] "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(m.Trackers, " ", m.Comment, m.CreatedBy)
			if !m.Created.IsZero() {
				got += m.Created.Format(time.DateOnly)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if !strings.Contains(tt.in, string(m.Info)) || m.Hash != sha1.Sum(m.Info) || m.Manifest.Length() != 9 {
				t.Errorf("info-hash %v of %q", m.Hash, m.Info)
			}
			if b, err := m.Encode(); err != nil || !bytes.Contains(b, m.Info) {
				t.Errorf("encoded as %q: %v", b, err)
			}
		})
	}
}

// manyKeys returns n sorted keys with values.
func manyKeys(n int) string {
	var text strings.Builder
	for i := range n {
		key := fmt.Sprintf("zz%06d", i)
		fmt.Fprintf(&text, "%d:%si1e", len(key), key)
	}
	return text.String()
}

// TestTooLong parses an info dictionary and a torrent file of one byte more than the limits.
func TestTooLong(t *testing.T) {
	_, err := ParseInfo(make([]byte, MaxInfo+1))
	if err == nil || !strings.Contains(err.Error(), "33554433 bytes, at most 33554432") {
		t.Errorf("info dictionary: %v", err)
	}
	_, err = Parse(make([]byte, MaxFile+1))
	if err == nil || !strings.Contains(err.Error(), "67108865 bytes, at most 67108864") {
		t.Errorf("torrent file: %v", err)
	}
}

// TestManyFiles parses a torrent of as many files as a manifest may have, and one of more.
func TestManyFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes two million files")
	}
	text := new(strings.Builder)
	text.WriteString("d5:filesl")
	for i := range proto.MaxEntries {
		name := fmt.Sprintf("%07d", i)
		fmt.Fprintf(text, "d6:lengthi0e4:pathl7:%see", name)
	}
	tail := "e" + oneName + oneSize + onePiece + "e"
	last := "d6:lengthi1e4:pathl1:zee"
	whole := text.String()
	if _, err := ParseInfo([]byte(whole + last + tail)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("with one more: %.300v", err)
	}
	one := len("d6:lengthi0e4:pathl7:0000000ee")
	tor, err := ParseInfo([]byte(whole[:len(whole)-one] + last + tail))
	if err != nil || len(tor.Manifest.Entries) != proto.MaxEntries {
		t.Errorf("%.300v", err)
	}
}

func FuzzParse(f *testing.F) {
	good := info("6:lengthi9e", oneName, oneSize, onePiece)
	f.Add([]byte("d8:announce8:http://x13:announce-listll1:ael1:bee4:info" + good + "e"))
	f.Add([]byte("d4:info" + info(fileList("1:a1:b", "1:a1:c"), oneName, oneSize, onePiece) + "e"))
	f.Add([]byte("d4:info" + info(fileList("2:..", "1:a"), oneName, oneSize, onePiece, "1:zd1:al1:bi-5eee") + "e"))
	f.Add([]byte("d4:info" + infoOf(16<<10,
		listed{path: "b/c", length: 9, exec: true}, listed{path: "p", length: 7, pad: true}, listed{path: "a", length: 1},
	) + "e"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		// A valid file survives a round trip, except for keys that are not kept.
		again, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		same, err := Parse(again)
		if err != nil || !reflect.DeepEqual(same, m) {
			t.Fatalf("after a round trip: %+v, %v, want %+v", same, err, m)
		}
		// Another decoder decodes the same values, if it accepts the dictionary.
		var other struct {
			Length      int64  `bencode:"length"`
			PieceLength int64  `bencode:"piece length"`
			Pieces      string `bencode:"pieces"`
		}
		man := m.Manifest
		single := len(man.Entries) == 1 && man.Entries[0].Path == ""
		if err := bencode.Unmarshal(m.Info, &other); err == nil && (other.PieceLength != int64(man.PieceLength) ||
			other.Pieces != string(man.SHA1) || single && other.Length != man.Length()) {
			t.Fatalf("another decoder: %+v, want %+v", other, m)
		}
		for _, e := range man.Entries {
			if strings.HasPrefix(e.Path, "/") || strings.Contains("/"+e.Path+"/", "/../") {
				t.Fatalf("path %q", e.Path)
			}
		}
		if err := man.Validate(); err != nil || m.Match(man) != nil {
			t.Fatalf("%v: %+v", err, man)
		}
	})
}
