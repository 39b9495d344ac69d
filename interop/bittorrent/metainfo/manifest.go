package metainfo

import (
	"fmt"

	"github.com/mobgrid/mob/proto"
)

// The modes of what a torrent says nothing about.
const (
	fileMode = 0o644
	execMode = 0o755
	dirMode  = 0o755
)

// Manifest is the manifest of the torrent's content as far as the torrent tells: the
// files in its order and each folder before the first file in it, modes 0644 or 0755
// and no times; and the SHA-1 of the pieces, so it is [proto.Manifest.TorrentOnly].
// Equal torrents give equal manifests, on every node. It shares t's memory.
//
// It fails when the content cannot be a mob's, such as for its piece length.
func (t *Torrent) Manifest() (*proto.Manifest, error) {
	if t.PieceLength < proto.MinPieceLength || t.PieceLength > proto.MaxPieceLength {
		return nil, fmt.Errorf("torrent: its pieces have %d bytes, and a mob takes those of %d (16 KiB) to %d (16 MiB)",
			t.PieceLength, proto.MinPieceLength, proto.MaxPieceLength)
	}
	m := &proto.Manifest{Name: t.Name, PieceLength: uint32(t.PieceLength), SHA1: t.Sums, Entries: t.entries()}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("torrent: %w", err)
	}
	return m, nil
}

// entries are the files, the folders that they are in, and the padding.
func (t *Torrent) entries() []proto.Entry {
	out := make([]proto.Entry, 0, len(t.Files))
	made := map[string]bool{}
	for _, f := range t.Files {
		if f.Pad {
			out = append(out, proto.Entry{Kind: proto.Pad, Size: f.Length})
			continue
		}
		for i := range len(f.Path) {
			if dir := f.Path[:i]; f.Path[i] == '/' && !made[dir] {
				made[dir] = true
				out = append(out, proto.Entry{Path: dir, Kind: proto.Dir, Mode: dirMode, MTime: proto.NoMTime})
			}
		}
		e := proto.Entry{Path: f.Path, Kind: proto.File, Size: f.Length, Mode: fileMode, MTime: proto.NoMTime}
		if f.Exec {
			e.Mode = execMode
		}
		out = append(out, e)
	}
	return out
}
