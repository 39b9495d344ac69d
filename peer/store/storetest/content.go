// Package storetest checks implementations of store.Store, and makes contents to
// check with.
package storetest

import (
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

// MTime is the modification time of the entries that [File], [Dir] and [Link]
// make: one that needs all of its nanoseconds.
const MTime = 1_600_000_000_123_456_789

// Content is a content and its bytes.
type Content struct {
	Manifest *proto.Manifest
	Data     []byte
}

// File is an entry for [Make]: a file of size bytes.
func File(path string, size int64) proto.Entry {
	return proto.Entry{Path: path, Kind: proto.File, Size: size, Mode: 0o640, MTime: MTime}
}

// Dir is an entry for [Make]: a folder.
func Dir(path string) proto.Entry {
	return proto.Entry{Path: path, Kind: proto.Dir, Mode: 0o755, MTime: MTime}
}

// Link is an entry for [Make]: a symbolic link.
func Link(path, target string) proto.Entry {
	return proto.Entry{Path: path, Kind: proto.Symlink, Mode: 0o777, MTime: MTime, Target: target}
}

// Make returns a content of those entries, which it sorts, in pieces of the least
// length, with bytes that depend on seed.
func Make(t testing.TB, seed uint64, entries ...proto.Entry) Content {
	t.Helper()
	slices.SortFunc(entries, func(a, b proto.Entry) int { return strings.Compare(a.Path, b.Path) })
	m := &proto.Manifest{Name: "content", PieceLength: proto.MinSeedPieceLength, Entries: entries}
	data := make([]byte, m.Length())
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	random.Read(data) //nolint:errcheck // never fails
	for rest := data; len(rest) > 0; {
		piece := rest[:min(len(rest), proto.MinSeedPieceLength)]
		sum := sha256.Sum256(piece)
		m.Hashes = append(m.Hashes, sum[:]...)
		rest = rest[len(piece):]
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return Content{m, data}
}

// Piece returns the bytes of a piece.
func (c Content) Piece(i int) []byte {
	start := c.Manifest.PieceOffset(i)
	return c.Data[start : start+int64(c.Manifest.PieceSize(i))]
}

// Write puts the content at root, the plain way.
func (c Content) Write(t testing.TB, root string) {
	t.Helper()
	if c.Manifest.Entries == nil || c.Manifest.Entries[0].Path != "" {
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
			check(t, os.Chtimes(path, time.Time{}, time.Unix(0, e.MTime)))
			rest = rest[e.Size:]
		}
	}
	for i := len(c.Manifest.Entries) - 1; i >= 0; i-- {
		if e := c.Manifest.Entries[i]; e.Kind == proto.Dir {
			path := filepath.Join(root, e.Path)
			check(t, os.Chtimes(path, time.Time{}, time.Unix(0, e.MTime)))
			check(t, os.Chmod(path, os.FileMode(e.Mode)))
		}
	}
}

// Verify checks that root is the content and nothing else.
func (c Content) Verify(t testing.TB, root string) {
	t.Helper()
	rest := c.Data
	for _, e := range c.Manifest.Entries {
		path := filepath.Join(root, e.Path)
		info, err := os.Lstat(path)
		check(t, err)
		if e.Kind == proto.Symlink {
			if target, err := os.Readlink(path); err != nil || target != e.Target {
				t.Errorf("%s leads to %q, %v; want %q", path, target, err, e.Target)
			}
			continue
		}
		if e.Kind == proto.Dir != info.IsDir() || uint32(info.Mode().Perm()) != e.Mode || info.ModTime().UnixNano() != e.MTime {
			t.Errorf("%s is %v of %d, want kind %d mode %#o of %d", path, info.Mode(), info.ModTime().UnixNano(), e.Kind, e.Mode, e.MTime)
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
	want := len(c.Manifest.Entries)
	if want == 1 && c.Manifest.Entries[0].Path == "" {
		want = 0
	}
	if count != want {
		t.Errorf("%d files and folders, want %d", count, want)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
