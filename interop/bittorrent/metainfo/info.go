package metainfo

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anacrolix/torrent/bencode"

	"github.com/mobgrid/mob/proto"
)

// ParseInfo decodes and validates an info dictionary. The torrent keeps b.
func ParseInfo(b []byte) (*Torrent, error) {
	if len(b) > MaxInfo {
		return nil, fmt.Errorf("torrent: info dictionary of %d bytes, at most %d", len(b), MaxInfo)
	}
	d, after, err := readDict(b)
	if err == nil && after > 0 {
		err = fmt.Errorf("%d bytes after the end", after)
	}
	t := &Torrent{Info: b, Hash: sha1.Sum(b), Private: string(d["private"]) == "i1e"}
	if err == nil {
		t.Manifest, err = d.manifest()
	}
	if err != nil {
		return nil, fmt.Errorf("torrent: info dictionary: %w", err)
	}
	return t, nil
}

// Modes in a manifest from a torrent, which has none.
const (
	fileMode = 0o644
	execMode = 0o755
	dirMode  = 0o755
)

func (d dict) manifest() (*proto.Manifest, error) {
	m := &proto.Manifest{}
	var pieceLength int64
	err := cmp.Or(d.get("name", &m.Name), d.get("piece length", &pieceLength), d.get("pieces", &m.SHA1))
	if err != nil {
		return nil, err
	}
	m.Name = cmp.Or(d.text("name.utf-8"), m.Name)
	switch isV2 := d["meta version"] != nil || d["file tree"] != nil; {
	case isV2 && len(m.SHA1) == 0:
		return nil, errors.New("BitTorrent v2 only, which mob does not support: make one for v1, or for both (hybrid)")
	case (d["files"] == nil) == (d["length"] == nil):
		return nil, errors.New("want either a length or a list of files")
	case pieceLength < proto.MinPieceLength || pieceLength > proto.MaxPieceLength:
		return nil, fmt.Errorf("its pieces have %d bytes, and mob supports %d (16 KiB) to %d (16 MiB)",
			pieceLength, proto.MinPieceLength, proto.MaxPieceLength)
	case len(m.SHA1) == 0:
		return nil, errors.New("no hashes: the content is empty")
	}
	m.PieceLength = uint32(pieceLength)
	if m.Entries, err = d.entries(); err != nil {
		return nil, err
	}
	return m, m.Validate()
}

// entries returns the files with their directories, and the padding.
func (d dict) entries() ([]proto.Entry, error) {
	if d["length"] != nil {
		e := newFile(d.text("attr"))
		err := d.get("length", &e.Size)
		return []proto.Entry{e}, err
	}
	list := d["files"]
	if list[0] != 'l' {
		return nil, errors.New("want a list of files")
	}
	t := tree{dirs: map[string]bool{}}
	// One at a time, since millions of empty dictionaries fit.
	files := bencode.NewDecoder(bytes.NewReader(list[1:]))
	for files.Offset < int64(len(list)-2) {
		var f fileEntry
		if err := files.Decode(&f); err != nil {
			return nil, fmt.Errorf("files: %w", err)
		}
		e, err := f.entry()
		if err == nil {
			err = t.add(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return t.entries, nil
}

// newFile returns an entry of a file with some attributes (BEP 47).
func newFile(attr string) proto.Entry {
	e := proto.Entry{Kind: proto.File, Mode: fileMode, MTime: proto.NoMTime}
	if strings.Contains(attr, "x") {
		e.Mode = execMode
	}
	return e
}

type fileEntry struct {
	Attr     string   `bencode:"attr,omitempty,ignore_unmarshal_type_error"`
	Length   *int64   `bencode:"length"`
	Path     []string `bencode:"path"`
	PathUTF8 []string `bencode:"path.utf-8,omitempty"`
}

func (f *fileEntry) entry() (proto.Entry, error) {
	elements := f.Path
	if len(f.PathUTF8) > 0 {
		elements = f.PathUTF8
	}
	path := strings.Join(elements, "/")
	switch {
	case path == "":
		return proto.Entry{}, errors.New("a file has no path")
	case f.Length == nil:
		return proto.Entry{}, fmt.Errorf("file %q has no length", path)
	case strings.Contains(f.Attr, "p"):
		return proto.Entry{Kind: proto.Pad, Size: *f.Length}, nil
	case strings.Contains(f.Attr, "l"):
		return proto.Entry{}, fmt.Errorf("%q is a symbolic link, which is not supported in a torrent", path)
	case strings.Count(path, "/") != len(elements)-1 || !utf8.ValidString(path):
		return proto.Entry{}, fmt.Errorf("path %q has an element with a slash, or is not UTF-8", path)
	}
	e := newFile(f.Attr)
	e.Path, e.Size = path, *f.Length
	return e, nil
}

// tree collects entries within the limits of a manifest, since each file of a torrent may name thousands of directories.
type tree struct {
	entries []proto.Entry
	dirs    map[string]bool // directories among the entries
	paths   int             // bytes
}

// add adds an entry after the directories that it is in.
func (t *tree) add(e proto.Entry) error {
	for i := range len(e.Path) {
		if dir := e.Path[:i]; e.Path[i] == '/' && !t.dirs[dir] {
			t.dirs[dir] = true
			if err := t.append(proto.Entry{Path: dir, Kind: proto.Dir, Mode: dirMode, MTime: proto.NoMTime}); err != nil {
				return err
			}
		}
	}
	return t.append(e)
}

func (t *tree) append(e proto.Entry) error {
	if len(t.entries) == proto.MaxEntries {
		return fmt.Errorf("more than %d files and directories", proto.MaxEntries)
	}
	if t.paths += len(e.Path); t.paths > proto.MaxManifest {
		return fmt.Errorf("the paths of its files and directories have more than %d bytes", proto.MaxManifest)
	}
	t.entries = append(t.entries, e)
	return nil
}
