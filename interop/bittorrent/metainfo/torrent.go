package metainfo

import (
	"fmt"

	"github.com/anacrolix/torrent/types/infohash"

	"github.com/mobgrid/mob/proto"
)

// Limits of a torrent.
const (
	// MaxInfo bounds an info dictionary, in bytes.
	MaxInfo = proto.MaxTorrent
	// MaxFile bounds a torrent file, in bytes. It may also contain the hash trees of
	// BitTorrent v2, which are skipped.
	MaxFile = 2 * MaxInfo
	// minPieceLength and maxPieceLength bound the piece length, in bytes. The bounds
	// of a manifest are narrower.
	minPieceLength = 16 << 10
	maxPieceLength = 256 << 20
)

// Torrent is a valid info dictionary and its decoded fields. It must not be changed, so
// any number of goroutines may read it.
type Torrent struct {
	// Info is the encoded info dictionary, as its author made it.
	Info []byte
	// Hash is the info-hash: the SHA-1 of Info.
	Hash infohash.T
	// Name is the name of the file or directory, one path element.
	Name string
	// PieceLength and Length are in bytes. Length includes padding.
	PieceLength int64
	Pieces      int
	Length      int64
	// Single is true if the content is one file, false if it is a directory.
	Single bool
	// Private is true if peers may come from the torrent's trackers only (BEP 27).
	Private bool
	// Files are in the order of the content. A single file has no path.
	Files []File
	// PieceHashes is the concatenated SHA-1 hashes of the pieces, a part of Info.
	PieceHashes []byte
}

// File is a file of a torrent.
type File struct {
	// Path is relative to the torrent's directory, with slashes.
	Path string
	// Length is in bytes.
	Length int64
	// Pad is true for padding, zeros that align the next file (BEP 47).
	Pad bool
	// Exec is true for an executable file (BEP 47).
	Exec bool
}

// Match returns an error if t and m differ in their pieces, files or order of files. It
// does not compare hashes, which are of different kinds.
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
		// A manifest has no path of padding.
		if g := t.Files[i]; f.Length != g.Length || f.Pad != g.Pad || !f.Pad && f.Path != g.Path {
			return fmt.Errorf("torrent: file %q of %d bytes, but the manifest has %q of %d",
				t.Files[i].Path, t.Files[i].Length, f.Path, f.Length)
		}
	}
	return nil
}

// files returns the files and the padding of a manifest.
func files(m *proto.Manifest) []File {
	var out []File
	for i := range m.Entries {
		if e := &m.Entries[i]; e.Kind == proto.File || e.Kind == proto.Pad {
			out = append(out, File{Path: e.Path, Length: e.Size, Pad: e.Kind == proto.Pad})
		}
	}
	return out
}
