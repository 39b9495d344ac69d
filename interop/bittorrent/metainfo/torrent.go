package metainfo

import (
	"crypto/sha1"
	"fmt"

	"github.com/anacrolix/torrent/types/infohash"

	"github.com/mobgrid/mob/proto"
)

// The limits of a torrent.
const (
	// MaxInfo bounds an info dictionary, in bytes.
	MaxInfo = proto.MaxTorrent
	// MaxFile bounds a torrent file, in bytes: besides the info dictionary it may
	// hold the hash trees of BitTorrent v2, which are left alone.
	MaxFile = 2 * MaxInfo
	// MinPieceLength and MaxPieceLength bound the piece length of others' torrents.
	// Those of mob have the bounds of a manifest.
	MinPieceLength = 16 << 10
	MaxPieceLength = 256 << 20
)

// Torrent is an info dictionary that was checked, and what it says. It must not be
// changed; any number of goroutines may read it.
type Torrent struct {
	// Info is the info dictionary, bencoded, as its author made it.
	Info []byte
	// Hash is the SHA-1 of Info, which names the torrent.
	Hash infohash.T
	// Name is that of the file or folder, one path element.
	Name string
	// PieceLength is in bytes, as is Length, that of the whole content with its
	// padding.
	PieceLength int64
	Pieces      int
	Length      int64
	// Single says that the content is a file, and no folder of files.
	Single bool
	// Private says that peers may come from the torrent's trackers only (BEP 27).
	Private bool
	// Files are in the order of the content. That of a single file has no path.
	Files []File
	// Sums is the SHA-1 of each piece, joined; a part of Info.
	Sums []byte
}

// File is a file of a torrent.
type File struct {
	// Path is below the torrent's folder, with slashes.
	Path string
	// Length is in bytes.
	Length int64
	// Pad says that it is there to align the next one, and all zeros (BEP 47).
	Pad bool
	// Exec says that it is a program (BEP 47).
	Exec bool
}

// Sum is the SHA-1 of piece i. It panics when there is no piece i.
func (t *Torrent) Sum(i int) [sha1.Size]byte {
	return [sha1.Size]byte(t.Sums[i*sha1.Size : (i+1)*sha1.Size])
}

// Match reports in what t is another content than m is, if it is: in pieces, or in
// the files and their order. It cannot compare the hashes.
func (t *Torrent) Match(m *proto.Manifest) error {
	if t.PieceLength != int64(m.PieceLength) || t.Length != m.Length() {
		return fmt.Errorf("torrent: %d bytes in pieces of %d, but the manifest has %d in pieces of %d",
			t.Length, t.PieceLength, m.Length(), m.PieceLength)
	}
	files := files(m)
	if len(files) != len(t.Files) {
		return fmt.Errorf("torrent: %d files, but the manifest has %d", len(t.Files), len(files))
	}
	for i, f := range files {
		// The path of padding means nothing, and a manifest has none.
		if g := t.Files[i]; f.Length != g.Length || f.Pad != g.Pad || !f.Pad && f.Path != g.Path {
			return fmt.Errorf("torrent: file %q of %d bytes in the place of the manifest's %q of %d",
				t.Files[i].Path, t.Files[i].Length, f.Path, f.Length)
		}
	}
	return nil
}

// files are those of a manifest, in its order, and its padding.
func files(m *proto.Manifest) []File {
	var out []File
	for i := range m.Entries {
		if e := &m.Entries[i]; e.Kind == proto.File || e.Kind == proto.Pad {
			out = append(out, File{Path: e.Path, Length: e.Size, Pad: e.Kind == proto.Pad})
		}
	}
	return out
}
