// Package bdecode reads bencoded values (BEP 3) of a malicious peer. General decoders allocate a multiple of their input.
// [ReadDict] allocates only for the keys that its caller knows, and a [Value] is a part of the input.
//
// Like clients, it accepts keys in any order, and any value of an unknown key. It rejects more than 64 levels, and, except
// for [ReadFirst], repeated known keys.
package bdecode

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// maxDepth bounds the nesting of lists and dictionaries. Torrents have five levels; the file tree of a v2 torrent is
// as deep as its directories.
const maxDepth = 64

var errTruncated = errors.New("truncated")

// A Value is an encoded value, nil if it is missing.
type Value []byte

// split returns the first value of b and the bytes after it. It allocates nothing.
func split(b []byte) (v Value, rest []byte, err error) {
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

// Bytes returns a string without a copy.
func (v Value) Bytes() ([]byte, error) {
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return nil, errors.New("want a string")
	}
	start, end, err := textAt(v)
	return v[start:end], err
}

// Text returns a copy of a string.
func (v Value) Text() (string, error) {
	b, err := v.Bytes()
	return string(b), err
}

// Integer returns an integer in its only valid form.
func (v Value) Integer() (int64, error) {
	if len(v) == 0 || v[0] != 'i' || len(v) > 22 {
		return 0, errors.New("want an integer")
	}
	n, err := strconv.ParseInt(string(v[1:len(v)-1]), 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != string(v[1:len(v)-1]) {
		return 0, fmt.Errorf("%q is not an integer", v)
	}
	return n, nil
}

// Elements returns the elements of a list, none of another value.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if !v.IsList() {
			return
		}
		for rest := []byte(v[1:]); rest[0] != 'e'; {
			var e Value
			if e, rest, _ = split(rest); !yield(e) { // all of v was split
				return
			}
		}
	}
}

// IsList reports whether the value is a list.
func (v Value) IsList() bool { return len(v) > 0 && v[0] == 'l' }

// A Dict has the values of the known keys of a dictionary.
type Dict map[string]Value

// ReadDict reads a dictionary, and returns the number of bytes after it.
func ReadDict(b []byte, known ...string) (d Dict, after int, err error) {
	return readDict(b, false, known)
}

// ReadFirst is [ReadDict], except that the first value of a repeated key counts, as in libtorrent. In other clients the last one does.
func ReadFirst(b []byte, known ...string) (d Dict, after int, err error) {
	return readDict(b, true, known)
}

func readDict(b []byte, first bool, known []string) (d Dict, after int, err error) {
	if len(b) == 0 || b[0] != 'd' {
		return nil, 0, errors.New("want a dictionary")
	}
	all, rest, err := split(b)
	if err != nil {
		return nil, 0, err
	}
	d, after = Dict{}, len(rest)
	for rest := []byte(all[1:]); rest[0] != 'e'; {
		var k, v Value
		k, rest, _ = split(rest) // all was split
		key, err := k.Bytes()
		if err != nil {
			return nil, 0, fmt.Errorf("a key: %w", err)
		}
		if rest[0] == 'e' {
			return nil, 0, fmt.Errorf("key %.40q has no value", key)
		}
		v, rest, _ = split(rest)
		i := slices.IndexFunc(known, func(name string) bool { return name == string(key) })
		switch {
		case i < 0 || first && d[known[i]] != nil:
		case d[known[i]] != nil:
			return nil, 0, fmt.Errorf("duplicate key %q", key)
		default:
			d[known[i]] = v
		}
	}
	return d, after, nil
}

// RequiredText returns a string, an error if there is none.
func (d Dict) RequiredText(key string) (string, error) { return required(d, key, Value.Text) }

// RequiredInteger returns an integer, an error if there is none.
func (d Dict) RequiredInteger(key string) (int64, error) { return required(d, key, Value.Integer) }

func required[T any](d Dict, key string, get func(Value) (T, error)) (v T, err error) {
	if d[key] == nil {
		return v, fmt.Errorf("no %s", key)
	}
	if v, err = get(d[key]); err != nil {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return v, err
}

// Text returns a string, "" if there is none.
func (d Dict) Text(key string) string {
	text, _ := d[key].Text()
	return text
}

// Integer returns an integer, 0 if there is none.
func (d Dict) Integer(key string) int64 {
	n, _ := d[key].Integer()
	return n
}
