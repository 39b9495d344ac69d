package metainfo

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/anacrolix/torrent/types/infohash"

	"github.com/mobgrid/mob/proto"
)

// maxLength bounds a content, in bytes.
const maxLength = proto.MaxPieces * proto.MaxPieceLength

// ParseInfo reads an info dictionary, and checks it. The torrent keeps b.
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
	t.Info, t.Hash = b, infohash.HashBytes(b)
	return t, nil
}

// infoParser is a reader of an info dictionary, and what it has found.
type infoParser struct {
	reader
	t        Torrent
	length   int64 // of a single file, -1 where there is none
	exec     bool  // the single file is a program
	listed   bool  // there is a list of files
	utf8Name string
	v2       bool
}

// key reads the value of a key.
func (p *infoParser) key(key string) (err error) {
	var n int64
	switch key {
	case "attr":
		var attr []byte
		attr, err = p.text()
		p.exec = bytes.IndexByte(attr, 'x') >= 0
	case "files":
		p.listed = true
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
		p.t.Sums, err = p.text()
	case "private":
		n, err = p.integer()
		p.t.Private = n == 1
	case "meta version", "file tree":
		p.v2 = true
		return p.skip()
	default:
		return p.skip()
	}
	return err
}

// string reads a string as one that stays when the input goes.
func (p *infoParser) string() (string, error) {
	b, err := p.text()
	return string(b), err
}

// file reads one of the files.
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
			attr, err = p.text()
		case "length":
			if f.Length, err = p.integer(); err == nil && f.Length < 0 {
				err = fmt.Errorf("a file of %d bytes", f.Length)
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
	if f.Path = path; utf8Path != "" {
		f.Path = utf8Path
	}
	f.Pad, f.Exec = bytes.IndexByte(attr, 'p') >= 0, bytes.IndexByte(attr, 'x') >= 0
	switch {
	case f.Path == "":
		return errors.New("a file without a path")
	case bytes.IndexByte(attr, 'l') >= 0:
		return fmt.Errorf("%q is a symbolic link, which is not supported in a torrent", f.Path)
	case f.Length < 0:
		return fmt.Errorf("file %q has no length", f.Path)
	}
	p.t.Files = append(p.t.Files, f)
	return nil
}

// path reads the path of a file, with slashes.
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
		if path = append(path, element...); len(path) > proto.MaxPath {
			return fmt.Errorf("a path of more than %d bytes", proto.MaxPath)
		}
		return nil
	})
	return string(path), err
}

// check reports what is wrong with the whole, and completes it.
func (p *infoParser) check() error {
	t := &p.t
	switch {
	case p.v2 && len(t.Sums) == 0:
		return errors.New("it is for BitTorrent v2 only, which mob does not speak: make one for v1, or for both (hybrid)")
	case p.listed && p.length >= 0:
		return errors.New("it has both a length and a list of files")
	case !p.listed && p.length < 0:
		return errors.New("it has neither a length nor a list of files")
	}
	if p.utf8Name != "" {
		t.Name = p.utf8Name
	}
	if err := checkName(t.Name); err != nil {
		return err
	}
	if !p.listed {
		t.Single, t.Files = true, []File{{Length: p.length, Exec: p.exec}}
	}
	if err := checkTree(t.Files); err != nil {
		return err
	}
	for _, f := range t.Files {
		if f.Length > maxLength-t.Length {
			return fmt.Errorf("a content of more than %d bytes", int64(maxLength))
		}
		t.Length += f.Length
	}
	return p.checkPieces()
}

func (p *infoParser) checkPieces() error {
	t := &p.t
	if n := t.PieceLength; n < MinPieceLength || n > MaxPieceLength || bits.OnesCount64(uint64(n)) != 1 {
		return fmt.Errorf("piece length %d, want a power of two from %d to %d", n, MinPieceLength, MaxPieceLength)
	}
	if t.Length == 0 {
		return errors.New("the content is empty")
	}
	// No overflow: what is added is small.
	want := (t.Length + t.PieceLength - 1) / t.PieceLength
	if int64(len(t.Sums)) != want*sha1.Size {
		return fmt.Errorf("%d bytes of hashes for %d bytes in pieces of %d, want %d", len(t.Sums), t.Length, t.PieceLength, want*sha1.Size)
	}
	t.Pieces = int(want)
	return nil
}

// checkTree reports two files of one path, or one below another. Padding is no
// file that anybody writes, so it may share its path.
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
			return fmt.Errorf("file %q is there twice", paths[i])
		case same && below[0] == '/':
			return fmt.Errorf("file %q is below the file %q", paths[i], paths[i-1])
		}
	}
	return nil
}
