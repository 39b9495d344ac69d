package proto

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
)

// pieceLength is the piece length in tests, in bytes.
const pieceLength = 256 << 10

// tree returns a manifest of a small directory with an entry of each kind, and one whose name is
// not UTF-8.
func tree() *Manifest {
	return &Manifest{
		Name:        "data",
		PieceLength: pieceLength,
		Entries: []Entry{
			{Path: "a", Kind: Dir, Mode: 0o755, MTime: 1},
			{Path: "a-b", Kind: File, Size: 1, Mode: 0o600, MTime: -5},
			{Path: "a/b", Kind: Dir, Mode: 0o700},
			{Path: "a/b/up", Kind: Symlink, Mode: 0o777, Target: "../../a-b"},
			{Path: "a/c", Kind: File, Size: pieceLength + 9, Mode: 0o644, MTime: 1_700_000_000_123_456_789},
			{Path: "empty", Kind: Dir, Mode: 0o755},
			{Path: "z\xff\\", Kind: File, Mode: 0o644},
		},
		Hashes: bytes.Repeat([]byte{7}, 2*sha256.Size),
	}
}

// special returns a manifest with modes that are not permissions only, of the root too.
func special() *Manifest {
	return &Manifest{
		Name:        "data",
		PieceLength: pieceLength,
		Root:        &Entry{Kind: Dir, Mode: 0o2770, MTime: NoMTime},
		Entries: []Entry{
			{Path: "drop", Kind: Dir, Mode: 0o1777},
			{Path: "old", Kind: Dir, Mode: 0o4755},
			{Path: "plain", Kind: File, Mode: 0o644},
			{Path: "su", Kind: File, Mode: 0o4755},
			{Path: "team", Kind: Dir, Mode: 0o2775},
			{Path: "wall", Kind: File, Mode: 0o2755},
		},
		Hashes: []byte{},
	}
}

// torrent returns a manifest as of a torrent: unsorted, with padding, small pieces
// and no times.
func torrent() *Manifest {
	return &Manifest{
		Name:        "data",
		PieceLength: MinPieceLength,
		Entries: []Entry{
			{Path: "b", Kind: File, Size: 9, Mode: 0o644, MTime: NoMTime},
			{Kind: Pad, Size: MinPieceLength - 9},
			{Path: "z", Kind: Dir, Mode: 0o755, MTime: NoMTime},
			{Path: "z/y", Kind: Dir, Mode: 0o755, MTime: NoMTime},
			{Path: "z/y/run", Kind: File, Size: MinPieceLength, Mode: 0o755, MTime: NoMTime},
			{Kind: Pad, Size: 1},
			{Path: "a", Kind: File, Size: 1, Mode: 0o644, MTime: NoMTime},
			{Kind: Pad},
			{Path: "z/x", Kind: File, Mode: 0o644, MTime: NoMTime},
		},
		Hashes: bytes.Repeat([]byte{7}, 3*sha256.Size),
	}
}

// file returns a manifest of one file of the given size.
func file(size int64) *Manifest {
	m := &Manifest{Name: "file", PieceLength: pieceLength, Entries: []Entry{{Kind: File, Size: size, Mode: 0o644}}}
	m.Hashes = make([]byte, m.Pieces()*sha256.Size)
	for i := range m.Pieces() {
		m.Hashes[i*sha256.Size] = byte(i)
	}
	return m
}

func manifests() []*Manifest {
	return []*Manifest{
		tree(),
		torrent(),
		file(0),
		file(1),
		file(3 * pieceLength),
		{Name: "empty directory", PieceLength: MaxPieceLength, Entries: []Entry{}, Hashes: []byte{}},
		{Name: "empty", PieceLength: MaxPieceLength, Root: &Entry{Kind: Dir}, Entries: []Entry{}, Hashes: []byte{}},
		special(),
	}
}

func TestManifestPieces(t *testing.T) {
	for _, tt := range []struct {
		length       int64
		pieces, last int
	}{
		{0, 0, 0},
		{1, 1, 1},
		{pieceLength - 1, 1, pieceLength - 1},
		{pieceLength, 1, pieceLength},
		{pieceLength + 1, 2, 1},
		{10 * pieceLength, 10, pieceLength},
	} {
		m := file(tt.length)
		for _, state := range []string{"by hand", "validated"} {
			if m.Length() != tt.length || m.Pieces() != tt.pieces {
				t.Errorf("%d bytes, %s: length %d, pieces %d, want %d", tt.length, state, m.Length(), m.Pieces(), tt.pieces)
			}
			sum := int64(0)
			for i := range m.Pieces() {
				if m.PieceOffset(i) != sum || m.Hash(i)[0] != byte(i) {
					t.Errorf("%d bytes, %s: piece %d at %d with hash %x", tt.length, state, i, m.PieceOffset(i), m.Hash(i))
				}
				sum += int64(m.PieceSize(i))
			}
			if sum != tt.length || tt.pieces > 0 && m.PieceSize(tt.pieces-1) != tt.last {
				t.Errorf("%d bytes, %s: the pieces have %d", tt.length, state, sum)
			}
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPieceSizePanicsOutOfRange(t *testing.T) {
	for _, i := range []int{-1, 1, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("PieceSize(%d) of one piece did not panic", i)
				}
			}()
			file(pieceLength).PieceSize(i)
		}()
	}
}

func TestDefaultPieceLength(t *testing.T) {
	for _, tt := range []struct {
		length int64
		want   uint32
	}{
		{-1, MinPieceLength},
		{0, MinPieceLength},
		{2000 * MinPieceLength, MinPieceLength},
		{2000*MinPieceLength + 1, 2 * MinPieceLength},
		{2000*MaxPieceLength - 1, MaxPieceLength},
		{1 << 60, MaxPieceLength},
	} {
		if got := DefaultPieceLength(tt.length); got != tt.want {
			t.Errorf("%d bytes: %d, want %d", tt.length, got, tt.want)
		}
	}
}

func TestManifestValidate(t *testing.T) {
	long := strings.Repeat("n", MaxElement+1)
	for _, tt := range []struct {
		name  string
		spoil func(*Manifest)
		want  string // part of the error
	}{
		{"no name", func(m *Manifest) { m.Name = "" }, "name of 0 bytes"},
		{"long name", func(m *Manifest) { m.Name = long }, "name of 256 bytes, want 1 to 255"},
		{"dot name", func(m *Manifest) { m.Name = "." }, "not a file name"},
		{"parent as name", func(m *Manifest) { m.Name = ".." }, "not a file name"},
		{"slash in name", func(m *Manifest) { m.Name = "a/b" }, "slash or a control"},
		{"escape in name", func(m *Manifest) { m.Name = "a\x1b[2J" }, "slash or a control"},
		{"NUL in name", func(m *Manifest) { m.Name = "a\x00" }, "slash or a control"},
		{"name not UTF-8", func(m *Manifest) { m.Name = "\xff" }, "UTF-8"},
		{"no piece length", func(m *Manifest) { m.PieceLength = 0 }, "power of two"},
		{"odd piece length", func(m *Manifest) { m.PieceLength = pieceLength + 1 }, "power of two"},
		{"small piece length", func(m *Manifest) { m.PieceLength = MinPieceLength / 2 }, "power of two"},
		{"large piece length", func(m *Manifest) { m.PieceLength = MaxPieceLength * 2 }, "power of two"},
		{"few hashes", func(m *Manifest) { m.Hashes = m.Hashes[:32] }, "32 bytes of hashes for 262154 bytes of content, want 64"},
		{"odd hashes", func(m *Manifest) { m.Hashes = m.Hashes[:63] }, "63 bytes of hashes"},
		{"many hashes", func(m *Manifest) { m.Hashes = make([]byte, 96) }, "96 bytes of hashes"},
		{"many entries", func(m *Manifest) { m.Entries = make([]Entry, MaxEntries+1) }, "1048577 entries, at most 1048576"},
		{"2^60 bytes", func(m *Manifest) { m.Entries[1].Size = 1 << 60 }, "more than 549755813888 bytes, the limit of 2097152 pieces of 262144"},
		{"overflow", func(m *Manifest) { m.Entries[1].Size, m.Entries[4].Size = 1<<63-1, 1<<63-1 }, "more than 549755813888 bytes"},
		{"one piece too many", func(m *Manifest) { m.Entries[4].Size = MaxPieces * pieceLength }, "more than 549755813888 bytes"},
		{"padding with a path", func(m *Manifest) { m.Entries[1] = Entry{Path: "a-b", Kind: Pad} }, "padding has a size and nothing else"},
		{"padding with a mode", func(m *Manifest) { m.Entries[1] = Entry{Kind: Pad, Size: 1, Mode: 1} }, "padding has a size and nothing else"},
		{"padding with a time", func(m *Manifest) { m.Entries[1] = Entry{Kind: Pad, Size: 1, MTime: NoMTime} }, "padding has a size and nothing else"},
		{"padding with a target", func(m *Manifest) { m.Entries[1] = Entry{Kind: Pad, Size: 1, Target: "a"} }, "padding has a size and nothing else"},
		{"padding of negative size", func(m *Manifest) { m.Entries[1] = Entry{Kind: Pad, Size: -1} }, "negative size"},
		{"much padding", func(m *Manifest) { m.Entries[1] = Entry{Kind: Pad, Size: 1 << 60} }, "more than 549755813888 bytes"},
		{"both hashes", func(m *Manifest) { m.SHA1 = make([]byte, 40) }, "both SHA-256 and SHA-1"},
		{"no kind", func(m *Manifest) { m.Entries[1].Kind = 0 }, "unknown kind 0"},
		{"unknown kind", func(m *Manifest) { m.Entries[1].Kind = 5 }, "unknown kind 5"},
		{"negative size", func(m *Manifest) { m.Entries[1].Size = -1 }, "negative size"},
		{"directory with a size", func(m *Manifest) { m.Entries[0].Size = 1 }, "only a file has a size"},
		{"link with a size", func(m *Manifest) { m.Entries[3].Size = 1 }, "only a file has a size"},
		{"mode of a file type", func(m *Manifest) { m.Entries[1].Mode = 0o100755 }, "mode 0100755, at most 07777"},
		{"root with a path", func(m *Manifest) { m.Root = &Entry{Path: "r", Kind: Dir} }, "only entry without a path"},
		{"root of a file", func(m *Manifest) { m.Root = &Entry{Kind: File} }, "must be a directory"},
		{"root with a file type", func(m *Manifest) { m.Root = &Entry{Kind: Dir, Mode: 0o40755} }, "at most 07777"},
		{"root of a single file", func(m *Manifest) { *m = *file(1); m.Root = &Entry{Kind: Dir} }, "only entry without a path"},
		{"many entries and the root", func(m *Manifest) { m.Root, m.Entries = &Entry{Kind: Dir}, make([]Entry, MaxEntries) }, "at most 1048576"},
		{"file with a target", func(m *Manifest) { m.Entries[1].Target = "a" }, "only a symlink has a target"},
		{"before its directory", func(m *Manifest) { m.Entries[0], m.Entries[4] = m.Entries[4], m.Entries[0] }, `path "a/c" comes before its directory`},
		{"directory before its directory", func(m *Manifest) { m.Entries[0], m.Entries[2] = m.Entries[2], m.Entries[0] }, `path "a/b" comes before its directory`},
		{"duplicate, far apart", func(m *Manifest) { m.Entries[1].Path, m.Entries[6].Path = "empty-", "a" }, `duplicate path "a"`},
		{"duplicate", func(m *Manifest) { m.Entries[2].Path = "a-b" }, `duplicate path "a-b"`},
		{"entry without a path", func(m *Manifest) { m.Entries[0].Path = "" }, "without a path"},
		{"directory not listed", func(m *Manifest) { m.Entries[6].Path = "f/g" }, `its directory "f" is not listed`},
		{"below a file", func(m *Manifest) { m.Entries[5].Path = "a/c/d" }, `lies below the file "a/c"`},
		{"behind a symlink", func(m *Manifest) { m.Entries[4].Path = "a/b/up/x" }, `lies behind the symlink "a/b/up"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := tree()
			tt.spoil(m)
			checkError(t, m.Validate(), tt.want)
			if _, err := m.Encode(); err == nil {
				t.Error("Encode took it")
			}
		})
	}
}

// The rules of paths do not depend on the order of entries.
func TestUnsortedManifest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*Manifest)
		want  string
	}{
		{"unchanged", func(*Manifest) {}, ""},
		{"duplicate", func(m *Manifest) { m.Entries[8].Path = "b" }, `duplicate path "b"`},
		{"duplicate directory", func(m *Manifest) { m.Entries[3].Path, m.Entries[4].Path = "z", "z/r" }, `duplicate path "z"`},
		{"no path", func(m *Manifest) { m.Entries[6].Path = "" }, "without a path"},
		{"path of a directory", func(m *Manifest) { m.Entries[6].Path = "z" }, `duplicate path "z"`},
		{"before its directory", func(m *Manifest) { m.Entries[2], m.Entries[4] = m.Entries[4], m.Entries[2] }, `path "z/y/run" comes before its directory`},
		{"directory after all", func(m *Manifest) { m.Entries[0].Path, m.Entries[8] = "q/b", Entry{Path: "q", Kind: Dir} }, `path "q/b" comes before its directory`},
		{"directory not listed", func(m *Manifest) { m.Entries[8].Path = "q/x" }, `its directory "q" is not listed`},
		{"below a file", func(m *Manifest) { m.Entries[8].Path = "b/x" }, `lies below the file "b"`},
		{"above a file", func(m *Manifest) { m.Entries[0].Path, m.Entries[8].Path = "q/b", "q" }, `lies below the file "q"`},
		{"behind a symlink", func(m *Manifest) {
			m.Entries[3] = Entry{Path: "z/y", Kind: Symlink, Target: "../b"}
		}, `lies behind the symlink "z/y"`},
		{"parent in path", func(m *Manifest) { m.Entries[6].Path = "../a" }, `element ".."`},
		{"only padding", func(m *Manifest) { m.Entries = []Entry{{Kind: Pad, Size: 3 * MinPieceLength}} }, "must be a file"},
		{"padding twice", func(m *Manifest) { m.Entries = []Entry{{Kind: Pad, Size: 3 * MinPieceLength}, {Kind: Pad}} }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := torrent()
			tt.spoil(m)
			checkError(t, m.Validate(), tt.want)
		})
	}
}

func TestTorrentOnly(t *testing.T) {
	m := torrent()
	m.SHA1, m.Hashes = bytes.Repeat([]byte{1, 2}, 30), nil
	if err := m.Validate(); err != nil || !m.TorrentOnly() || m.HashSHA1(2) != [20]byte(m.SHA1[40:]) {
		t.Errorf("%v, %x", err, m.HashSHA1(2))
	}
	_, err := m.Encode()
	checkError(t, err, "cannot be encoded")
	seen := map[[32]byte]string{}
	for name, m := range map[string]*Manifest{"torrent": m, "SHA-256": torrent(), "other": file(1)} {
		sum, err := m.Digest()
		if err != nil || seen[sum] != "" {
			t.Errorf("%s: %v, the same as %s", name, err, seen[sum])
		}
		seen[sum] = name
	}
	b, err := torrent().Encode()
	if err != nil || seen[sha256.Sum256(b)] != "SHA-256" {
		t.Errorf("the digest is not the SHA-256 of the encoding: %v", err)
	}
	m.SHA1 = m.SHA1[:40]
	checkError(t, m.Validate(), "40 bytes of SHA-1 for 32770 bytes of content, want 60")
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case want != "" && err == nil:
		t.Errorf("no error, want %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("error %q, want %q in it", err, want)
	case err != nil && strings.Contains(err.Error(), "\n"):
		t.Errorf("error of more than one line: %q", err)
	}
}

func TestFilesOf(t *testing.T) {
	m := tree() // "a-b" ends in piece 0, "a/c" in piece 1
	for _, c := range []struct {
		pieces []int
		most   int
		paths  string
		more   int
	}{
		{nil, 9, "", 0},
		{[]int{0}, 9, "a-b a/c", 0},
		{[]int{1}, 9, "a/c", 0},
		{[]int{0, 1}, 9, "a-b a/c", 0},
		{[]int{0, 1}, 1, "a-b", 1},
		{[]int{0, 1}, 0, "", 2},
	} {
		paths, more := m.FilesOf(c.pieces, c.most)
		if got := strings.Join(paths, " "); got != c.paths || more != c.more {
			t.Errorf("files of %v, at most %d: %q and %d more", c.pieces, c.most, got, more)
		}
	}
	single := &Manifest{Name: "x.bin", PieceLength: pieceLength, Entries: []Entry{{Kind: File, Size: 5}}}
	if paths, _ := single.FilesOf([]int{0}, 9); len(paths) != 1 || paths[0] != "x.bin" {
		t.Errorf("files of a single file: %q", paths)
	}
}

func TestSpecialBits(t *testing.T) {
	m := special()
	if n := m.SpecialBits(); n != 3 {
		t.Errorf("%d entries with bits that are dropped, want 3", n)
	}
	for i, want := range []uint32{0o1777, 0o755, 0o644, 0o755, 0o2775, 0o755} {
		if got := m.Entries[i].SafeMode(); got != want {
			t.Errorf("%s: %#o, want %#o", m.Entries[i].Path, got, want)
		}
	}
}
