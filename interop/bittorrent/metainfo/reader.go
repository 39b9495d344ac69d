package metainfo

import (
	"bytes"
	"errors"
	"fmt"
)

// maxDepth is how deep lists and dictionaries may be nested. Torrents have five
// levels; the file tree of a v2 torrent is as deep as its folders.
const maxDepth = 64

// reader reads canonical bencode from memory, and nothing else: a value that can
// be written in two ways would let two clients understand one info dictionary
// differently. What it returns are parts of its input, so it makes no memory.
type reader struct {
	all   []byte
	at    int
	depth int
}

var errEnds = errors.New("it ends in the middle")

// fail is an error at the reader's place.
func (r *reader) fail(format string, args ...any) error {
	return fmt.Errorf("at byte %d: %w", r.at, fmt.Errorf(format, args...))
}

// next is the byte ahead, 0 at the end.
func (r *reader) next() byte {
	if r.at == len(r.all) {
		return 0
	}
	return r.all[r.at]
}

// number reads digits up to a byte that ends them.
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
			return 0, r.fail("a number begins with 0")
		case digits == 18: // 19 may be more than an int64 holds
			return 0, r.fail("a number of more than 18 digits")
		}
		n, digits = n*10+int64(c-'0'), digits+1
		r.at++
	}
	return 0, errEnds
}

// integer reads an integer.
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
		err = r.fail("-0 is no number")
	}
	if negative {
		n = -n
	}
	return n, err
}

// text reads a string of bytes.
func (r *reader) text() ([]byte, error) {
	if r.at == len(r.all) {
		return nil, errEnds
	}
	if c := r.next(); c < '0' || c > '9' {
		return nil, r.fail("want a string")
	}
	n, err := r.number(':')
	if err != nil {
		return nil, err
	}
	if n > int64(len(r.all)-r.at) {
		return nil, errEnds
	}
	r.at += int(n)
	return r.all[r.at-int(n) : r.at : r.at], nil
}

// list calls each for every element of a list, to read it.
func (r *reader) list(each func() error) error { return r.group('l', "a list", each) }

// dict calls each for every key of a dictionary, to read its value. Keys are sorted,
// and none is there twice.
func (r *reader) dict(each func(key string) error) error {
	var last []byte
	first := true
	return r.group('d', "a dictionary", func() error {
		key, err := r.text()
		if err != nil {
			return err
		}
		if !first && bytes.Compare(last, key) >= 0 {
			return r.fail("key %.40q after %.40q: keys are sorted, each once", key, last)
		}
		first, last = false, key
		return each(string(key[:min(len(key), 64)])) // no key that anyone looks for is as long
	})
}

// group reads from an opening byte to the e that ends it.
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
			return errEnds
		}
		if err := each(); err != nil {
			return err
		}
	}
	r.at++
	return nil
}

// skip reads over a value, which must be right all the same.
func (r *reader) skip() (err error) {
	switch r.next() {
	case 'i':
		_, err = r.integer()
	case 'l':
		err = r.list(r.skip)
	case 'd':
		err = r.dict(func(string) error { return r.skip() })
	default:
		_, err = r.text()
	}
	return err
}

// end is an error unless all was read.
func (r *reader) end() error {
	if left := len(r.all) - r.at; left > 0 {
		return r.fail("%d bytes after its end", left)
	}
	return nil
}
