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

// infoDict is an info dictionary as it is written. The encoder sorts the keys.
type infoDict struct {
	Files       []entryDict `bencode:"files,omitempty"`
	Length      int64       `bencode:"length,omitempty"`
	Name        string      `bencode:"name"`
	PieceLength int64       `bencode:"piece length"`
	Pieces      []byte      `bencode:"pieces"`
}

// entryDict is one of its files.
type entryDict struct {
	Attr   string   `bencode:"attr,omitempty"`
	Length int64    `bencode:"length"`
	Path   []string `bencode:"path"`
}

// Build makes the info dictionary of a valid manifest and the SHA-1 of each of its
// pieces, joined. Equal arguments give equal bytes. It fails on what BitTorrent
// cannot say: a content without a byte, a name that is not UTF-8, more than
// [MaxInfo] bytes.
func Build(m *proto.Manifest, sums []byte) (*Torrent, error) {
	if m.Pieces() == 0 {
		return nil, errors.New("the content is empty: BitTorrent has no torrent of nothing")
	}
	if want := m.Pieces() * sha1.Size; len(sums) != want {
		return nil, fmt.Errorf("%d bytes of SHA-1 for %d pieces, want %d", len(sums), m.Pieces(), want)
	}
	d := infoDict{Name: m.Name, PieceLength: int64(m.PieceLength), Pieces: sums}
	for _, f := range files(m) {
		if !utf8.ValidString(f.Path) {
			return nil, fmt.Errorf("the name %q is not UTF-8, as names in a torrent must be: rename it", f.Path)
		}
		if f.Path == "" && !f.Pad {
			d.Length = f.Length
			continue
		}
		if f.Pad { // named as BEP 47 wants it
			d.Files = append(d.Files, entryDict{"p", f.Length, []string{".pad", strconv.FormatInt(f.Length, 10)}})
			continue
		}
		d.Files = append(d.Files, entryDict{"", f.Length, strings.Split(f.Path, "/")})
	}
	info, err := bencode.Marshal(d)
	if err != nil {
		return nil, err
	}
	return ParseInfo(info)
}

// LeftOut counts what of a manifest a torrent has no place for: symbolic links, and
// folders without a file anywhere below.
func LeftOut(m *proto.Manifest) (links, folders int) {
	// From the end, since what is below a folder comes after it.
	filled := map[string]bool{}
	for i := len(m.Entries) - 1; i >= 0; i-- {
		e := &m.Entries[i]
		switch e.Kind {
		case proto.Symlink:
			links++
		case proto.Dir:
			if !filled[e.Path] {
				folders++
				continue
			}
			fallthrough
		case proto.File:
			if at := strings.LastIndexByte(e.Path, '/'); at >= 0 {
				filled[e.Path[:at]] = true
			}
		}
	}
	return links, folders
}
