package launch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

const (
	// separator precedes each record (RFC 7464, section 2.2).
	separator = 0x1e
	// maxRecord bounds a record, in bytes. A text of 4 KiB has 24 KiB when each byte is escaped.
	maxRecord = 64 << 10
)

// WriteRecord writes v as a record, in one call of Write.
func WriteRecord(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(slices.Concat([]byte{separator}, text, []byte{'\n'}))
	return err
}

// recordReader reads records, and skips all other bytes: banners, and records that are cut off or too long.
type recordReader struct {
	r *bufio.Reader
	// banner is the end of the text before the first record.
	banner  []byte
	started bool // a record has started
}

// maxBanner bounds the banner, in bytes.
const maxBanner = 4 << 10

func newRecordReader(r io.Reader) *recordReader {
	return &recordReader{r: bufio.NewReaderSize(r, 32<<10)}
}

// next returns the next record.
func (r *recordReader) next() (json.RawMessage, error) {
	for {
		if err := r.skip(); err != nil {
			return nil, err
		}
		text, err := r.line()
		if err != nil {
			return nil, err
		}
		if json.Valid(text) {
			return text, nil
		}
	}
}

// skip reads up to the next separator.
func (r *recordReader) skip() error {
	for {
		text, err := r.r.ReadSlice(separator)
		if !r.started {
			r.banner = append(r.banner, text...)
			r.banner = r.banner[max(0, len(r.banner)-maxBanner):]
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			r.started = r.started || err == nil
			return err
		}
	}
}

// line reads a record after its separator, up to the newline. Another separator starts a new record.
func (r *recordReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.r.ReadSlice('\n')
		if i := bytes.LastIndexByte(part, separator); i >= 0 {
			line, part = nil, part[i+1:]
		}
		if len(line) <= maxRecord {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > maxRecord {
			return nil, err
		}
		return line, err
	}
}
