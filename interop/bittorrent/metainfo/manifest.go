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

// Build returns the info dictionary of [Build].
func (Codec) Build(m *proto.Manifest, hashes []byte) ([]byte, error) {
	t, err := Build(m, hashes)
	if err != nil {
		return nil, err
	}
	return t.Info, nil
}

// Check fails unless an info dictionary has the same files and pieces as a manifest.
func (Codec) Check(m *proto.Manifest, info []byte) error {
	t, err := ParseInfo(info)
	if err != nil {
		return err
	}
	return t.Match(m)
}

// Manifest returns the manifest of an info dictionary.
func (Codec) Manifest(info []byte) (*proto.Manifest, error) {
	t, err := ParseInfo(info)
	if err != nil {
		return nil, err
	}
	return t.Manifest, nil
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

// fileEntry is the encoding of an element of the list of files.
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
	for i := range m.Entries {
		switch e := &m.Entries[i]; {
		case e.Kind == proto.Pad: // BEP 47 recommends this path
			d.Files = append(d.Files, fileEntry{Attr: "p", Length: e.Size, Path: []string{".pad", strconv.FormatInt(e.Size, 10)}})
		case e.Kind != proto.File:
		case !utf8.ValidString(e.Path):
			return nil, fmt.Errorf("the name %q is not UTF-8, as names in a torrent must be: rename it", e.Path)
		case e.Path == "":
			d.Length = e.Size
		default:
			d.Files = append(d.Files, fileEntry{Length: e.Size, Path: strings.Split(e.Path, "/")})
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
