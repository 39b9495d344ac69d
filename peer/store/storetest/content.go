// Package storetest makes content for tests of stores.
package storetest

import (
	"crypto/sha1"
	"crypto/sha256"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer/store"
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

// Hash sets the hashes of the manifest, of the kind that it has, to the hashes of the bytes.
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

// Store returns an empty store of the content.
func (c Content) Store(t testing.TB) *store.Disk {
	t.Helper()
	d, err := store.Create(t.TempDir(), filepath.Join(t.TempDir(), "content"), c.Manifest, store.NewFiles(0))
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
