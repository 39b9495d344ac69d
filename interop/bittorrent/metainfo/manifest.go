package metainfo

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anacrolix/torrent/bencode"

	"github.com/mobgrid/mob/proto"
)

// Codec converts between manifests and encoded info dictionaries.
type Codec struct{}

// Build returns the bytes of [Build].
func (Codec) Build(m *proto.Manifest, hashes []byte) ([]byte, error) {
	t, err := Build(m, hashes)
	if err != nil {
		return nil, err
	}
	return t.Info, nil
}

// Check is [ParseInfo] and [Torrent.Match].
func (Codec) Check(m *proto.Manifest, info []byte) error {
	t, err := ParseInfo(info)
	if err != nil {
		return err
	}
	return t.Match(m)
}

// Manifest is [ParseInfo] and [Torrent.Manifest].
func (Codec) Manifest(info []byte) (*proto.Manifest, error) {
	t, err := ParseInfo(info)
	if err != nil {
		return nil, err
	}
	return t.Manifest()
}

// infoDict is the encoding of an info dictionary. The encoder sorts the keys. It has
// the keys of [Build] only, so that no update of a library changes an info-hash.
type infoDict struct {
	Files       []fileEntry `bencode:"files,omitempty"`
	Length      int64       `bencode:"length,omitempty"`
	Name        string      `bencode:"name"`
	PieceLength int64       `bencode:"piece length"`
	Pieces      []byte      `bencode:"pieces"`
}

type fileEntry struct {
	Attr   string   `bencode:"attr,omitempty"`
	Length int64    `bencode:"length"`
	Path   []string `bencode:"path"`
}

// Build returns the info dictionary of a valid manifest with the concatenated SHA-1
// hashes of its pieces. Equal arguments give equal bytes. It fails if BitTorrent cannot
// represent the content: one of no bytes, a name that is not UTF-8, an info dictionary
// of more than [MaxInfo] bytes.
func Build(m *proto.Manifest, hashes []byte) (*Torrent, error) {
	if m.Pieces() == 0 {
		return nil, errors.New("the content is empty, which a torrent cannot be")
	}
	if want := m.Pieces() * sha1.Size; len(hashes) != want {
		return nil, fmt.Errorf("%d bytes of SHA-1 for %d pieces, want %d", len(hashes), m.Pieces(), want)
	}
	d := infoDict{Name: m.Name, PieceLength: int64(m.PieceLength), Pieces: hashes}
	for _, f := range files(m) {
		switch {
		case !utf8.ValidString(f.Path):
			return nil, fmt.Errorf("the name %q is not UTF-8, as names in a torrent must be: rename it", f.Path)
		case f.Pad: // BEP 47 recommends this path
			d.Files = append(d.Files, fileEntry{"p", f.Length, []string{".pad", strconv.FormatInt(f.Length, 10)}})
		case f.Path == "":
			d.Length = f.Length
		default:
			d.Files = append(d.Files, fileEntry{"", f.Length, strings.Split(f.Path, "/")})
		}
	}
	info, err := bencode.Marshal(d)
	if err != nil {
		return nil, err
	}
	return ParseInfo(info)
}

// Unsupported counts the entries of a manifest that a torrent cannot contain: symbolic
// links, and directories without a file anywhere below.
func Unsupported(m *proto.Manifest) (links, emptyDirs int) {
	// From the end, since entries below a directory come after it.
	filled := map[string]bool{}
	for i := len(m.Entries) - 1; i >= 0; i-- {
		e := &m.Entries[i]
		switch e.Kind {
		case proto.Symlink:
			links++
		case proto.Dir:
			if !filled[e.Path] {
				emptyDirs++
				continue
			}
			fallthrough
		case proto.File:
			if at := strings.LastIndexByte(e.Path, '/'); at >= 0 {
				filled[e.Path[:at]] = true
			}
		}
	}
	return links, emptyDirs
}

// Modes in a manifest from a torrent, which has none.
const (
	fileMode = 0o644
	execMode = 0o755
	dirMode  = 0o755
)

// Manifest returns the manifest of the torrent's content: the files in its order, each
// directory before the first file in it, modes 0644 or 0755, no times, and the SHA-1
// hashes of the pieces. It is [proto.Manifest.TorrentOnly]. Equal torrents give equal
// manifests on every node. The manifest shares t's memory.
//
// It fails if the content is not valid in mob, such as for its piece length.
func (t *Torrent) Manifest() (*proto.Manifest, error) {
	if t.PieceLength < proto.MinPieceLength || t.PieceLength > proto.MaxPieceLength {
		return nil, fmt.Errorf("torrent: its pieces have %d bytes, and mob supports %d (16 KiB) to %d (16 MiB)",
			t.PieceLength, proto.MinPieceLength, proto.MaxPieceLength)
	}
	entries, err := t.entries()
	if err != nil {
		return nil, fmt.Errorf("torrent: %w", err)
	}
	m := &proto.Manifest{Name: t.Name, PieceLength: uint32(t.PieceLength), SHA1: t.PieceHashes, Entries: entries}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("torrent: %w", err)
	}
	return m, nil
}

// entries returns the files with their directories, and the padding. Each file of a torrent
// may name thousands of directories, so the limits of a manifest apply as they are added.
func (t *Torrent) entries() ([]proto.Entry, error) {
	tree := tree{entries: make([]proto.Entry, 0, len(t.Files)), dirs: map[string]bool{}}
	for _, f := range t.Files {
		if f.Pad {
			if err := tree.add(proto.Entry{Kind: proto.Pad, Size: f.Length}); err != nil {
				return nil, err
			}
			continue
		}
		for i := range len(f.Path) {
			if dir := f.Path[:i]; f.Path[i] == '/' && !tree.dirs[dir] {
				tree.dirs[dir] = true
				err := tree.add(proto.Entry{Path: dir, Kind: proto.Dir, Mode: dirMode, MTime: proto.NoMTime})
				if err != nil {
					return nil, err
				}
			}
		}
		e := proto.Entry{Path: f.Path, Kind: proto.File, Size: f.Length, Mode: fileMode, MTime: proto.NoMTime}
		if f.Exec {
			e.Mode = execMode
		}
		if err := tree.add(e); err != nil {
			return nil, err
		}
	}
	return tree.entries, nil
}

// tree collects entries within the limits of a manifest.
type tree struct {
	entries []proto.Entry
	dirs    map[string]bool // directories among the entries
	paths   int             // bytes
}

func (t *tree) add(e proto.Entry) error {
	if len(t.entries) == proto.MaxEntries {
		return fmt.Errorf("more than %d files and directories", proto.MaxEntries)
	}
	if t.paths += len(e.Path); t.paths > proto.MaxManifest {
		return fmt.Errorf("the paths of its files and directories have more than %d bytes", proto.MaxManifest)
	}
	t.entries = append(t.entries, e)
	return nil
}
