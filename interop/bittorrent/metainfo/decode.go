package metainfo

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strconv"
)

// maxDepth bounds the nesting of lists and dictionaries. Torrents have five levels; the file tree of a v2 torrent is
// as deep as its directories.
const maxDepth = 64

// maxKeys bounds the keys of a dictionary, so that its map takes little memory. Torrents have about ten.
const maxKeys = 10_000

var errTruncated = errors.New("truncated")

// value is an encoded value, a part of the input. The general decoders of bencode allocate a multiple of what they read,
// which is too much for an info dictionary of a malicious peer.
type value []byte

// split returns the first value of b and the bytes after it. It allocates nothing.
func split(b []byte) (v value, rest []byte, err error) {
	depth := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case (c == 'l' || c == 'd') && depth == maxDepth:
			return nil, nil, fmt.Errorf("more than %d levels", maxDepth)
		case c == 'l' || c == 'd':
			depth++
			i++
		case c == 'e' && depth > 0:
			depth--
			i++
		case c == 'i':
			end := bytes.IndexByte(b[i:], 'e')
			if end < 0 {
				return nil, nil, errTruncated
			}
			i += end + 1
		case c >= '0' && c <= '9':
			_, end, err := textAt(b[i:])
			if err != nil {
				return nil, nil, err
			}
			i += end
		default:
			return nil, nil, fmt.Errorf("%q instead of a value", c)
		}
		if depth == 0 {
			return b[:i:i], b[i:], nil
		}
	}
	return nil, nil, errTruncated
}

// textAt returns where the bytes of the string at the start of b start and end.
func textAt(b []byte) (start, end int, err error) {
	colon := bytes.IndexByte(b[:min(len(b), 20)], ':')
	if colon < 0 {
		return 0, 0, errors.New("a string without a length")
	}
	n, err := strconv.ParseUint(string(b[:colon]), 10, 63)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("%q is not the length of a string", b[:colon])
	case n > uint64(len(b)-colon-1):
		return 0, 0, errTruncated
	}
	return colon + 1, colon + 1 + int(n), nil
}

// text returns the bytes of a string.
func (v value) text() (string, error) {
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return "", errors.New("want a string")
	}
	start, end, err := textAt(v)
	return string(v[start:end]), err
}

func (v value) integer() (int64, error) {
	if len(v) == 0 || v[0] != 'i' || len(v) > 22 {
		return 0, errors.New("want an integer")
	}
	n, err := strconv.ParseInt(string(v[1:len(v)-1]), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(v[1:len(v)-1]) {
		return 0, fmt.Errorf("%q is not an integer", v)
	}
	return n, nil
}

// elements returns the elements of a list, none of another value.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		if !v.isList() {
			return
		}
		for rest := []byte(v[1:]); rest[0] != 'e'; {
			var e value
			if e, rest, _ = split(rest); !yield(e) { // all of v was split
				return
			}
		}
	}
}

func (v value) isList() bool { return len(v) > 0 && v[0] == 'l' }

// dict has the values of a dictionary by their keys.
type dict map[string]value

// readDict reads a dictionary, and returns the number of bytes after it. Like clients, it accepts keys in any order, and
// any value of an unknown key.
func readDict(b []byte) (d dict, after int, err error) {
	if len(b) == 0 || b[0] != 'd' {
		return nil, 0, errors.New("want a dictionary")
	}
	all, rest, err := split(b)
	if err != nil {
		return nil, 0, err
	}
	d, after = dict{}, len(rest)
	for rest := []byte(all[1:]); rest[0] != 'e'; {
		var k, v value
		k, rest, _ = split(rest) // all was split
		key, err := k.text()
		if err != nil {
			return nil, 0, fmt.Errorf("a key: %w", err)
		}
		if rest[0] == 'e' {
			return nil, 0, fmt.Errorf("key %.40q has no value", key)
		}
		if d[key] != nil {
			return nil, 0, fmt.Errorf("duplicate key %.40q", key)
		}
		if len(d) == maxKeys {
			return nil, 0, fmt.Errorf("more than %d keys", maxKeys)
		}
		v, rest, _ = split(rest)
		d[key] = v
	}
	return d, after, nil
}

// errMissing is returned for a key without a value.
func errMissing(key string) error { return fmt.Errorf("no %s", key) }

// required returns a text, an error if there is none.
func (d dict) required(key string) (string, error) {
	if d[key] == nil {
		return "", errMissing(key)
	}
	text, err := d[key].text()
	if err != nil {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return text, err
}

// text returns a text, "" if there is none.
func (d dict) text(key string) string {
	text, _ := d[key].text()
	return text
}

func (d dict) integer(key string) (int64, error) {
	if d[key] == nil {
		return 0, errMissing(key)
	}
	n, err := d[key].integer()
	if err != nil {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return n, err
}
