package metainfo

import (
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mobgrid/mob/interop/bittorrent/bdecode"
	"github.com/mobgrid/mob/proto"
)

// ParseInfo decodes and validates an info dictionary. The torrent keeps b.
func ParseInfo(b []byte) (*Torrent, error) {
	if len(b) > MaxInfo {
		return nil, fmt.Errorf("torrent: info dictionary of %d bytes, at most %d", len(b), MaxInfo)
	}
	d, after, err := bdecode.ReadDict(b,
		"name", "name.utf-8", "piece length", "pieces", "files", "length", "attr", "private", "meta version", "file tree")
	if err == nil && after > 0 {
		err = fmt.Errorf("%d bytes after the end", after)
	}
	t := &Torrent{Info: b, Hash: sha1.Sum(b), Private: string(d["private"]) == "i1e"}
	if err == nil {
		t.Manifest, err = manifestOf(d)
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

func manifestOf(d bdecode.Dict) (*proto.Manifest, error) {
	name, noName := d.RequiredText("name")
	pieceLength, noLength := d.RequiredInteger("piece length")
	if err := cmp.Or(noName, noLength); err != nil {
		return nil, err
	}
	m := &proto.Manifest{Name: cmp.Or(d.Text("name.utf-8"), name), SHA1: []byte(d.Text("pieces"))}
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
	var err error
	if m.Entries, err = entriesOf(d); err != nil {
		return nil, err
	}
	return m, m.Validate()
}

// entriesOf returns the files with their directories, and the padding.
func entriesOf(d bdecode.Dict) ([]proto.Entry, error) {
	if d["length"] != nil {
		length, err := d.RequiredInteger("length")
		e := newFile(d.Text("attr"))
		e.Size = length
		return []proto.Entry{e}, err
	}
	if !d["files"].IsList() {
		return nil, errors.New("want a list of files")
	}
	t := tree{dirs: map[string]bool{}}
	for v := range d["files"].Elements() {
		f, _, err := bdecode.ReadDict(v, "path", "path.utf-8", "length", "attr")
		if err != nil {
			return nil, fmt.Errorf("a file: %w", err)
		}
		e, err := fileOf(f)
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

// fileOf returns the file of an element of the list of files.
func fileOf(d bdecode.Dict) (e proto.Entry, err error) {
	path, err := joinPath(d["path.utf-8"])
	if path == "" && err == nil {
		path, err = joinPath(d["path"])
	}
	if err != nil {
		return e, fmt.Errorf("the path of a file: %w", err)
	}
	length, err := d.RequiredInteger("length")
	switch attr := d.Text("attr"); {
	case path == "":
		return e, errors.New("a file has no path")
	case err != nil:
		return e, fmt.Errorf("file %q: %w", path, err)
	case strings.Contains(attr, "p"):
		return proto.Entry{Kind: proto.Pad, Size: length}, nil
	case strings.Contains(attr, "l"):
		return e, fmt.Errorf("%q is a symbolic link, which is not supported in a torrent", path)
	default:
		e = newFile(attr)
		e.Path, e.Size = path, length
		return e, nil
	}
}

// joinPath joins the elements of a path.
func joinPath(v bdecode.Value) (string, error) {
	var path []byte
	for e := range v.Elements() {
		element, err := e.Text()
		switch {
		case err != nil:
			return "", err
		case len(path)+len(element) > proto.MaxPath:
			return "", fmt.Errorf("more than %d bytes", proto.MaxPath)
		case element == "", strings.Contains(element, "/"), !utf8.ValidString(element):
			return "", fmt.Errorf("element %q is empty, has a slash, or is not UTF-8", element)
		case len(path) > 0:
			path = append(path, '/')
		}
		path = append(path, element...)
	}
	return string(path), nil
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
