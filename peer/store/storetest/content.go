// Package storetest makes content for tests of stores.
package storetest

import (
	"crypto/sha1"
	"crypto/sha256"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// PieceLength is the piece length of [Make], in bytes.
const PieceLength = 256 << 10

// MTime is the modification time of the entries of [File], [Dir] and [Link]. All of its
// nanoseconds matter.
const MTime = 1_600_000_000_123_456_789

// Content is a manifest with its bytes.
type Content struct {
	Manifest *proto.Manifest
	Data     []byte
}

// File returns an entry for [Make]: a file of size bytes.
func File(path string, size int64) proto.Entry {
	return proto.Entry{Path: path, Kind: proto.File, Size: size, Mode: 0o640, MTime: MTime}
}

// Dir returns an entry for [Make]: a directory.
func Dir(path string) proto.Entry {
	return proto.Entry{Path: path, Kind: proto.Dir, Mode: 0o755, MTime: MTime}
}

// Link returns an entry for [Make]: a symbolic link.
func Link(path, target string) proto.Entry {
	return proto.Entry{Path: path, Kind: proto.Symlink, Mode: 0o777, MTime: MTime, Target: target}
}

// Pad returns an entry for [MakeTorrent]: padding of size bytes.
func Pad(size int64) proto.Entry { return proto.Entry{Kind: proto.Pad, Size: size} }

// Untimed removes the modification times of entries. Torrents have none.
func Untimed(entries ...proto.Entry) []proto.Entry {
	for i := range entries {
		if entries[i].Kind != proto.Pad {
			entries[i].MTime = proto.NoMTime
		}
	}
	return entries
}

// Make returns content of these entries, which it sorts, with pieces of [PieceLength]
// and random bytes that depend on seed.
func Make(t testing.TB, seed uint64, entries ...proto.Entry) Content {
	t.Helper()
	slices.SortFunc(entries, func(a, b proto.Entry) int { return strings.Compare(a.Path, b.Path) })
	c := fill(seed, &proto.Manifest{Name: "content", PieceLength: PieceLength, Entries: entries})
	c.Hash(t)
	return c
}

// MakeTorrent returns content of these entries, in this order, of which only the
// torrent is known, with pieces of [proto.MinPieceLength] and random bytes that depend on
// seed.
func MakeTorrent(t testing.TB, seed uint64, entries ...proto.Entry) Content {
	t.Helper()
	c := fill(seed, &proto.Manifest{Name: "content", PieceLength: proto.MinPieceLength, Entries: entries})
	c.Manifest.SHA1 = []byte{0} // so that Hash sets it
	c.Hash(t)
	return c
}

// fill returns the content of m with random bytes.
func fill(seed uint64, m *proto.Manifest) Content {
	data := make([]byte, m.Length())
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	random.Read(data) //nolint:errcheck // never fails
	rest := data
	for _, e := range m.Entries {
		if e.Kind == proto.Pad {
			clear(rest[:e.Size])
		}
		rest = rest[e.Size:]
	}
	return Content{m, data}
}

// Hash sets the hashes of the manifest, of the kind that it has, to those of the bytes.
func (c Content) Hash(t testing.TB) {
	t.Helper()
	if c.Manifest.TorrentOnly() {
		c.Manifest.SHA1 = c.sums(func(p []byte) []byte { sum := sha1.Sum(p); return sum[:] })
	} else {
		c.Manifest.Hashes = c.SHA256()
	}
	check(t, c.Manifest.Validate())
}

// SHA256 returns the SHA-256 of each piece, joined.
func (c Content) SHA256() []byte {
	return c.sums(func(p []byte) []byte { sum := sha256.Sum256(p); return sum[:] })
}

func (c Content) sums(of func([]byte) []byte) (joined []byte) {
	for i := range c.Manifest.Pieces() {
		joined = append(joined, of(c.Piece(i))...)
	}
	return joined
}

// Piece returns the bytes of a piece.
func (c Content) Piece(i int) []byte {
	start := c.Manifest.PieceOffset(i)
	return c.Data[start : start+int64(c.Manifest.PieceSize(i))]
}

// Write writes the content to root without a store.
func (c Content) Write(t testing.TB, root string) {
	t.Helper()
	if len(c.Manifest.Entries) != 1 || c.Manifest.Entries[0].Path != "" {
		check(t, os.Mkdir(root, 0o755))
	}
	rest := c.Data
	for _, e := range c.Manifest.Entries {
		path := filepath.Join(root, e.Path)
		switch e.Kind {
		case proto.Dir:
			check(t, os.Mkdir(path, 0o700))
		case proto.Symlink:
			check(t, os.Symlink(e.Target, path))
		case proto.File:
			check(t, os.WriteFile(path, rest[:e.Size], 0o600))
			check(t, os.Chmod(path, os.FileMode(e.Mode)))
			setTime(t, path, e)
		}
		rest = rest[e.Size:]
	}
	for i := len(c.Manifest.Entries) - 1; i >= 0; i-- {
		if e := c.Manifest.Entries[i]; e.Kind == proto.Dir {
			path := filepath.Join(root, e.Path)
			setTime(t, path, e)
			check(t, os.Chmod(path, os.FileMode(e.Mode)))
		}
	}
}

func setTime(t testing.TB, path string, e proto.Entry) {
	t.Helper()
	if e.MTime != proto.NoMTime {
		check(t, os.Chtimes(path, time.Time{}, time.Unix(0, e.MTime)))
	}
}

// Verify checks that root is the content and nothing else.
func (c Content) Verify(t testing.TB, root string) {
	t.Helper()
	rest := c.Data
	for _, e := range c.Manifest.Entries {
		if e.Kind == proto.Pad {
			rest = rest[e.Size:]
			continue
		}
		path := filepath.Join(root, e.Path)
		info, err := os.Lstat(path)
		check(t, err)
		if e.Kind == proto.Symlink {
			if target, err := os.Readlink(path); err != nil || target != e.Target {
				t.Errorf("%s leads to %q, %v; want %q", path, target, err, e.Target)
			}
			continue
		}
		mtime := info.ModTime().UnixNano()
		if e.Kind == proto.Dir != info.IsDir() || uint32(info.Mode().Perm()) != e.Mode ||
			e.MTime != proto.NoMTime && mtime != e.MTime {
			t.Errorf("%s is %v of %d, want kind %d mode %#o of %d", path, info.Mode(), mtime, e.Kind, e.Mode, e.MTime)
		}
		if e.Kind == proto.File {
			got, err := os.ReadFile(path)
			check(t, err)
			if string(got) != string(rest[:e.Size]) {
				t.Errorf("%s differs in %d bytes, want %d", path, len(got), e.Size)
			}
			rest = rest[e.Size:]
		}
	}
	c.verifyCount(t, root)
}

func (c Content) verifyCount(t testing.TB, root string) {
	t.Helper()
	count := 0
	check(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if path != root {
			count++
		}
		return err
	}))
	want := 0
	for _, e := range c.Manifest.Entries {
		if e.Path != "" {
			want++
		}
	}
	if count != want {
		t.Errorf("%d files and directories, want %d", count, want)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
