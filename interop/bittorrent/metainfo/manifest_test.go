package metainfo

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// listed is a file of a test torrent.
type listed struct {
	path      string
	length    int64
	pad, exec bool
}

// infoOf returns an info dictionary of these files.
func infoOf(pieceLength int64, files ...listed) string {
	text, length := new(strings.Builder), int64(0)
	text.WriteString("5:filesl")
	for _, f := range files {
		text.WriteString("d")
		if f.pad {
			text.WriteString("4:attr1:p")
		} else if f.exec {
			text.WriteString("4:attr2:xh")
		}
		fmt.Fprintf(text, "6:lengthi%de4:pathl", f.length)
		for e := range strings.SplitSeq(f.path, "/") {
			text.WriteString(element(e))
		}
		text.WriteString("ee")
		length += f.length
	}
	var hashes []byte
	for i := range (length + pieceLength - 1) / pieceLength {
		sum := sha1.Sum([]byte{byte(i)})
		hashes = append(hashes, sum[:]...)
	}
	return info(text.String()+"e", oneName, fmt.Sprintf("12:piece lengthi%de", pieceLength), "6:pieces"+element(string(hashes)))
}

func TestManifest(t *testing.T) {
	const piece = proto.MinPieceLength
	in := infoOf(piece,
		listed{path: "z/run", length: 13, exec: true}, listed{path: ".pad/16371", length: piece - 13, pad: true},
		listed{path: "b", length: piece}, listed{path: "a/d/deep", length: 5}, listed{path: ".pad/16371", length: 3, pad: true},
		listed{path: "z/empty"}, listed{path: "a/c", length: 1}, listed{path: "a.b", length: 1})
	file := func(path string, size int64) proto.Entry {
		return proto.Entry{Path: path, Kind: proto.File, Size: size, Mode: 0o644, MTime: proto.NoMTime}
	}
	dir := func(path string) proto.Entry {
		return proto.Entry{Path: path, Kind: proto.Dir, Mode: 0o755, MTime: proto.NoMTime}
	}
	pad := func(size int64) proto.Entry { return proto.Entry{Kind: proto.Pad, Size: size} }
	run := file("z/run", 13)
	run.Mode = 0o755
	want := []proto.Entry{dir("z"), run, pad(piece - 13), file("b", piece), dir("a"), dir("a/d"), file("a/d/deep", 5),
		pad(3), file("z/empty", 0), file("a/c", 1), file("a.b", 1)}
	tor, err := ParseInfo([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Codec{}.Manifest([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Entries, want) || m.Name != "x" || m.PieceLength != piece || !m.TorrentOnly() ||
		m.HashSHA1(2) != sha1.Sum([]byte{2}) {
		t.Errorf("got %+v", m)
	}
	if err := tor.Match(m); err != nil {
		t.Error(err)
	}
	// A manifest of the same content with SHA-256 matches too, and so does a torrent
	// built from it, whatever the paths of its padding.
	m = &proto.Manifest{Name: m.Name, PieceLength: piece, Entries: slices.Clone(m.Entries), Hashes: make([]byte, 32*m.Pieces())}
	again, err := Build(m, tor.Manifest.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Match(m); err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(again.Info), "d4:attr1:p6:lengthi16371e4:pathl4:.pad5:16371ee") {
		t.Errorf("padding in %q", again.Info)
	}
	m.Entries[2].Size, m.Entries[3].Size = m.Entries[2].Size-1, m.Entries[3].Size+1
	if err := tor.Match(m); err == nil {
		t.Error("less padding matches")
	}
}

func TestManifestOfFile(t *testing.T) {
	for attr, mode := range map[string]uint32{"": 0o644, "4:attr1:x": 0o755, "4:attr1:h": 0o644} {
		m, err := Codec{}.Manifest([]byte(info(attr, "6:lengthi9e", oneName, oneSize, onePiece)))
		if err != nil {
			t.Fatal(err)
		}
		want := proto.Entry{Kind: proto.File, Size: 9, Mode: mode, MTime: proto.NoMTime}
		if len(m.Entries) != 1 || m.Entries[0] != want || !bytes.Equal(m.SHA1, bytes.Repeat([]byte("a"), 20)) {
			t.Errorf("%q: got %+v", attr, m)
		}
	}
}

func TestManifestErrors(t *testing.T) {
	deep := listed{path: strings.Repeat("d/", 2000) + "f", length: 1}
	for _, tt := range []struct{ name, in, want string }{
		{"large pieces", infoOf(32<<20, listed{path: "a", length: 1}),
			"pieces have 33554432 bytes, and mob supports 16384 (16 KiB) to 16777216 (16 MiB)"},
		{"only padding", infoOf(16<<10, listed{path: "p", length: 5, pad: true}), "must be a file"},
		{"empty dictionary", "de", "no name"},
	} {
		if _, err := (Codec{}).Manifest([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if m, err := (Codec{}).Manifest([]byte(infoOf(16<<10, deep))); err != nil || len(m.Entries) != 2001 {
		t.Errorf("2001 levels: %v", err)
	}
}

// Each file of a torrent may name two thousand directories in four kilobytes, so an info
// dictionary could contain ten million of them. It is rejected before they are made.
func TestManifestLimits(t *testing.T) {
	nested := func(files, levels int) string {
		all := make([]listed, files)
		for i := range all {
			all[i] = listed{path: fmt.Sprintf("%05d/", i) + strings.Repeat("d/", levels) + "f", length: 1}
		}
		return infoOf(16<<10, all...)
	}
	for _, tt := range []struct{ name, in, want string }{
		{"many directories", nested(12_000, 90), "more than 1048576 files and directories"},
		{"long paths", nested(2_500, 2_000), "have more than 201326592 bytes"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Codec{}.Manifest([]byte(tt.in))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<30 {
			t.Errorf("%s: allocated %d MB for %d", tt.name, n>>20, len(tt.in)>>20)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(infoOf(16<<10, listed{path: "a/b/c", length: 5}, listed{path: "p", length: 3, pad: true}, listed{path: "a/d"})))
	f.Add([]byte(info("6:lengthi9e", oneName, oneSize, onePiece)))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Codec{}.Manifest(b)
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil || len(m.Entries) > proto.MaxEntries {
			t.Fatalf("%v: %+v", err, m)
		}
		tor, err := ParseInfo(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := tor.Match(m); err != nil {
			t.Fatal(err)
		}
	})
}
