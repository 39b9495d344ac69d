package metainfo

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anacrolix/torrent/types/infohash"

	"github.com/mobgrid/mob/proto"
)

// maxLength bounds the length of the content, in bytes.
const maxLength = proto.MaxPieces * proto.MaxPieceLength

// ParseInfo decodes and validates an info dictionary. The torrent keeps b.
func ParseInfo(b []byte) (*Torrent, error) {
	if len(b) > MaxInfo {
		return nil, fmt.Errorf("torrent: info dictionary of %d bytes, at most %d", len(b), MaxInfo)
	}
	p := infoParser{reader: reader{all: b}, length: -1}
	err := p.dict(p.key)
	if err == nil {
		err = p.end()
	}
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, fmt.Errorf("torrent: info dictionary: %w", err)
	}
	t := &p.t
	t.Info = b
	t.Hash = infohash.HashBytes(b)
	return t, nil
}

// infoParser decodes an info dictionary.
type infoParser struct {
	reader
	t        Torrent
	length   int64 // of a single file, -1 without one
	exec     bool  // the single file is executable
	hasFiles bool  // there is a list of files
	utf8Name string
	v2       bool
}

// key decodes the value of a key.
func (p *infoParser) key(key string) (err error) {
	begin := p.at
	switch key {
	case "attr":
		var attr []byte
		attr, err = p.optional()
		p.exec = bytes.IndexByte(attr, 'x') >= 0
	case "files":
		p.hasFiles = true
		return p.list(p.file)
	case "length":
		if p.length, err = p.integer(); err == nil && p.length < 0 {
			err = fmt.Errorf("length %d is negative", p.length)
		}
	case "name":
		p.t.Name, err = p.string()
	case "name.utf-8":
		p.utf8Name, err = p.string()
	case "piece length":
		p.t.PieceLength, err = p.integer()
	case "pieces":
		p.t.PieceHashes, err = p.text()
	case "private":
		err = p.skip()
		p.t.Private = string(p.all[begin:p.at]) == "i1e"
	case "meta version", "file tree":
		p.v2 = true
		return p.skip()
	default:
		return p.skip()
	}
	return err
}

func (p *infoParser) string() (string, error) {
	b, err := p.text()
	return string(b), err
}

// file decodes an element of the list of files.
func (p *infoParser) file() error {
	if len(p.t.Files) == proto.MaxEntries {
		return fmt.Errorf("more than %d files", proto.MaxEntries)
	}
	f := File{Length: -1}
	var path, utf8Path string
	var attr []byte
	err := p.dict(func(key string) (err error) {
		switch key {
		case "attr":
			attr, err = p.optional()
		case "length":
			if f.Length, err = p.integer(); err == nil && f.Length < 0 {
				err = fmt.Errorf("a file has length %d", f.Length)
			}
		case "path":
			path, err = p.path()
		case "path.utf-8":
			utf8Path, err = p.path()
		default:
			err = p.skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	f.Path = path
	if utf8Path != "" {
		f.Path = utf8Path
	}
	f.Pad = bytes.IndexByte(attr, 'p') >= 0
	f.Exec = bytes.IndexByte(attr, 'x') >= 0
	switch {
	case f.Path == "":
		return errors.New("a file has no path")
	case bytes.IndexByte(attr, 'l') >= 0:
		return fmt.Errorf("%q is a symbolic link, which is not supported in a torrent", f.Path)
	case f.Length < 0:
		return fmt.Errorf("file %q has no length", f.Path)
	}
	p.t.Files = append(p.t.Files, f)
	return nil
}

// path decodes the path of a file and joins its elements with slashes.
func (p *infoParser) path() (string, error) {
	var path []byte
	err := p.list(func() error {
		element, err := p.text()
		if err != nil {
			return err
		}
		if err := checkElement(element); err != nil {
			return err
		}
		if len(path) > 0 {
			path = append(path, '/')
		}
		path = append(path, element...)
		if len(path) > proto.MaxPath {
			return fmt.Errorf("a path has more than %d bytes", proto.MaxPath)
		}
		return nil
	})
	return string(path), err
}

// check validates the dictionary, and sets derived fields.
func (p *infoParser) check() error {
	t := &p.t
	switch {
	case p.v2 && len(t.PieceHashes) == 0:
		return errors.New("BitTorrent v2 only, which mob does not support: " +
			"make one for v1, or for both (hybrid)")
	case p.hasFiles && p.length >= 0:
		return errors.New("both a length and a list of files")
	case !p.hasFiles && p.length < 0:
		return errors.New("neither a length nor a list of files")
	}
	if p.utf8Name != "" {
		t.Name = p.utf8Name
	}
	if err := checkName(t.Name); err != nil {
		return err
	}
	if !p.hasFiles {
		t.Single = true
		t.Files = []File{{Length: p.length, Exec: p.exec}}
	}
	if err := checkTree(t.Files); err != nil {
		return err
	}
	for _, f := range t.Files {
		if f.Length > maxLength-t.Length {
			return fmt.Errorf("the content has more than %d bytes", int64(maxLength))
		}
		t.Length += f.Length
	}
	return p.checkPieces()
}

func (p *infoParser) checkPieces() error {
	t := &p.t
	if n := t.PieceLength; n < minPieceLength || n > maxPieceLength || bits.OnesCount64(uint64(n)) != 1 {
		return fmt.Errorf("piece length %d, want a power of two from %d to %d", n, minPieceLength, maxPieceLength)
	}
	if t.Length == 0 {
		return errors.New("the content is empty")
	}
	// This does not overflow: t.Length is at most maxLength.
	want := (t.Length + t.PieceLength - 1) / t.PieceLength
	if int64(len(t.PieceHashes)) != want*sha1.Size {
		return fmt.Errorf("%d bytes of hashes for %d bytes in pieces of %d, want %d",
			len(t.PieceHashes), t.Length, t.PieceLength, want*sha1.Size)
	}
	t.Pieces = int(want)
	return nil
}

// checkTree returns an error if a path occurs twice, or is below a file's path. Padding
// files are not written, so several may share a path.
func checkTree(files []File) error {
	var paths []string
	for _, f := range files {
		if !f.Pad {
			paths = append(paths, f.Path)
		}
	}
	sortPaths(paths)
	for i := 1; i < len(paths); i++ {
		below, same := strings.CutPrefix(paths[i], paths[i-1])
		switch {
		case same && below == "":
			return fmt.Errorf("duplicate file %q", paths[i])
		case same && below[0] == '/':
			return fmt.Errorf("file %q is below the file %q", paths[i], paths[i-1])
		}
	}
	return nil
}

// checkElement returns an error unless e is a valid file name.
func checkElement(e []byte) error {
	switch {
	case len(e) == 0:
		return errors.New("a path has an empty element")
	case len(e) > proto.MaxElement:
		return fmt.Errorf("a path has an element of %d bytes, at most %d", len(e), proto.MaxElement)
	case !utf8.Valid(e):
		return fmt.Errorf("the path element %q is not UTF-8", e)
	case string(e) == ".", string(e) == "..", bytes.IndexByte(e, '/') >= 0, bytes.IndexByte(e, 0) >= 0:
		return fmt.Errorf("the path element %q is not a valid file name", e)
	}
	return nil
}

// checkName returns an error unless name is valid as the name of a manifest too.
func checkName(name string) error {
	if name == "" {
		return errors.New("no name")
	}
	if err := checkElement([]byte(name)); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if strings.IndexFunc(name, unicode.IsControl) >= 0 {
		return fmt.Errorf("name %q has a control character", name)
	}
	return nil
}

// sortPaths sorts paths so that those below a path directly follow it.
func sortPaths(paths []string) {
	slices.SortFunc(paths, func(a, b string) int {
		n := min(len(a), len(b))
		for i := range n {
			if a[i] == b[i] {
				continue
			}
			if a[i] == '/' {
				return -1
			}
			if b[i] == '/' {
				return 1
			}
			return cmp.Compare(a[i], b[i])
		}
		return cmp.Compare(len(a), len(b))
	})
}
