package metainfo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// maxDepth bounds the nesting of lists and dictionaries. Torrents have five levels;
// the file tree of a v2 torrent is as deep as its directories.
const maxDepth = 64

// reader reads bencode from memory. Like clients, it accepts keys in any order, and any
// integer that is skipped. It rejects repeated keys of used dictionaries. It returns
// parts of its input, so it allocates nothing.
type reader struct {
	all   []byte
	at    int // offset of the next byte
	depth int
}

var errTruncated = errors.New("truncated")

// fail returns an error with the offset.
func (r *reader) fail(format string, args ...any) error {
	return fmt.Errorf("at byte %d: %w", r.at, fmt.Errorf(format, args...))
}

// next returns the next byte, 0 at the end.
func (r *reader) next() byte {
	if r.at == len(r.all) {
		return 0
	}
	return r.all[r.at]
}

// number reads digits and the byte that ends them.
func (r *reader) number(end byte) (int64, error) {
	n, digits := int64(0), 0
	for r.at < len(r.all) {
		c := r.all[r.at]
		switch {
		case c == end && digits > 0:
			r.at++
			return n, nil
		case c < '0' || c > '9':
			return 0, r.fail("%q in a number", c)
		case digits > 0 && n == 0:
			return 0, r.fail("a number starts with 0")
		case digits == 18: // 19 may overflow an int64
			return 0, r.fail("a number of more than 18 digits")
		}
		n, digits = n*10+int64(c-'0'), digits+1
		r.at++
	}
	return 0, errTruncated
}

func (r *reader) integer() (int64, error) {
	if r.next() != 'i' {
		return 0, r.fail("want an integer")
	}
	r.at++
	negative := r.next() == '-'
	if negative {
		r.at++
	}
	n, err := r.number('e')
	if err == nil && negative && n == 0 {
		err = r.fail("-0 is not a number")
	}
	if negative {
		n = -n
	}
	return n, err
}

func (r *reader) text() ([]byte, error) {
	if r.at == len(r.all) {
		return nil, errTruncated
	}
	if c := r.next(); c < '0' || c > '9' {
		return nil, r.fail("want a string")
	}
	n, err := r.number(':')
	if err != nil {
		return nil, err
	}
	if n > int64(len(r.all)-r.at) {
		return nil, errTruncated
	}
	r.at += int(n)
	return r.all[r.at-int(n) : r.at : r.at], nil
}

// optional reads a byte string, or skips a value of another type.
func (r *reader) optional() ([]byte, error) {
	if c := r.next(); c == 'i' || c == 'l' || c == 'd' {
		return nil, r.skip()
	}
	return r.text()
}

// list reads a list: it calls each to read every element.
func (r *reader) list(each func() error) error { return r.group('l', "a list", each) }

// maxUnsorted is the largest number of keys of a dictionary whose keys are not sorted.
const maxUnsorted = 32

// dict reads a dictionary: it calls each to read the value of every key. Keys must be
// unique.
func (r *reader) dict(each func(key string) error) error {
	var keys [maxUnsorted][]byte // the last ones
	n, sorted := 0, true
	return r.group('d', "a dictionary", func() error {
		key, err := r.text()
		if err != nil {
			return err
		}
		sorted = sorted && (n == 0 || bytes.Compare(keys[(n-1)%maxUnsorted], key) < 0)
		if !sorted && n >= maxUnsorted {
			return r.fail("more than %d keys that are not sorted", maxUnsorted)
		}
		if !sorted && slices.ContainsFunc(keys[:n], func(k []byte) bool { return bytes.Equal(k, key) }) {
			return r.fail("duplicate key %.40q", key)
		}
		keys[n%maxUnsorted] = key
		n++
		return each(string(key[:min(len(key), 64)])) // longer than any key that is used
	})
}

// group reads a list or a dictionary, from its opening byte to its end.
func (r *reader) group(open byte, what string, each func() error) error {
	if r.next() != open {
		return r.fail("want %s", what)
	}
	if r.depth == maxDepth {
		return r.fail("more than %d levels", maxDepth)
	}
	r.at++
	r.depth++
	defer func() { r.depth-- }()
	for r.next() != 'e' {
		if r.at == len(r.all) {
			return errTruncated
		}
		if err := each(); err != nil {
			return err
		}
	}
	r.at++
	return nil
}

// skip reads a value and drops it.
func (r *reader) skip() (err error) {
	switch r.next() {
	case 'i':
		n := bytes.IndexByte(r.all[r.at:], 'e')
		if n < 0 {
			return errTruncated
		}
		r.at += n + 1
	case 'l':
		err = r.list(r.skip)
	case 'd':
		err = r.group('d', "a dictionary", func() error {
			if _, err := r.text(); err != nil {
				return err
			}
			return r.skip()
		})
	default:
		_, err = r.text()
	}
	return err
}

// end returns an error unless the reader is at the end of its input.
func (r *reader) end() error {
	if left := len(r.all) - r.at; left > 0 {
		return r.fail("%d bytes after the end", left)
	}
	return nil
}
