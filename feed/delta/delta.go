package delta

import (
	"bytes"
	"compress/flate"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// magic is the first line of a delta.
const magic = "mob-delta 2\n"

// A difference is kept if it has less than 7/10 of the bytes of its piece.
const (
	keepTimes = 7
	keepOf    = 10
)

// headLength is the length of what precedes a difference: the piece and the length of the difference, in bytes.
const headLength = 8

// Encoder makes the differences of one piece after the other. It is for one goroutine.
type Encoder struct {
	runs  []byte
	out   bytes.Buffer
	flate *flate.Writer
}

// Encode returns the difference between the bytes of a piece and those in its place before, nil if it is not worth it.
// It replaces the bytes of next. The result is the caller's.
func (e *Encoder) Encode(next, before []byte) []byte {
	subtle.XORBytes(next, next, before)
	e.runs = appendRuns(e.runs[:0], next)
	e.out.Reset()
	if e.flate == nil {
		e.flate, _ = flate.NewWriter(&e.out, flate.BestSpeed) // the level is valid
	} else {
		e.flate.Reset(&e.out)
	}
	_, _ = e.flate.Write(e.runs) // a bytes.Buffer takes everything
	_ = e.flate.Close()
	if e.out.Len()*keepOf >= len(next)*keepTimes {
		return nil
	}
	return bytes.Clone(e.out.Bytes())
}

// gap separates two runs. Fewer bytes that did not change take no more room within a run.
var gap = make([]byte, 4) //nolint:gochecknoglobals // constant

// appendRuns appends the runs of bytes that are not zero: the number of zeros before each, its length, and its bytes. Zeros would
// compress as well, but to decompress them takes longer than all else.
func appendRuns(runs, p []byte) []byte {
	for {
		run := bytes.TrimLeft(p, "\x00")
		if len(run) == 0 {
			return runs
		}
		runs = binary.AppendUvarint(runs, uint64(len(p)-len(run)))
		n := bytes.Index(run, gap)
		if n < 0 {
			n = len(run)
		}
		runs = binary.AppendUvarint(runs, uint64(n))
		runs = append(runs, run[:n]...)
		p = run[n:]
	}
}

// xorRuns applies runs to a piece, and reports whether they fit.
func xorRuns(p, runs []byte) bool {
	for len(runs) > 0 {
		zeros, a := binary.Uvarint(runs)
		n, b := binary.Uvarint(runs[max(a, 0):])
		if a <= 0 || b <= 0 {
			return false
		}
		if runs = runs[a+b:]; n == 0 || n > uint64(len(runs)) || zeros > uint64(len(p)) || n > uint64(len(p))-zeros {
			return false
		}
		p = p[zeros:]
		subtle.XORBytes(p, p[:n], runs[:n])
		p, runs = p[n:], runs[n:]
	}
	return true
}

// Start writes the first line of a delta.
func Start(w io.Writer) error {
	_, err := io.WriteString(w, magic)
	return err
}

// Add adds the difference of a piece to a delta. Pieces must come in order.
func Add(w io.Writer, piece int, difference []byte) error {
	head := binary.BigEndian.AppendUint32(make([]byte, 0, headLength), uint32(piece))
	if _, err := w.Write(binary.BigEndian.AppendUint32(head, uint32(len(difference)))); err != nil {
		return err
	}
	_, err := w.Write(difference)
	return err
}

// Delta has the pieces of a version: the pieces of its base, changed where there is a difference. It is safe for concurrent
// use if base and file are.
type Delta struct {
	base Pieces
	file io.ReaderAt
	at   map[int]span
}

type span struct {
	offset int64
	length uint32
}

// readers keeps readers of differences that are not in use, which are large.
var readers = make(chan io.ReadCloser, 8) //nolint:gochecknoglobals // a cache

var errNoDelta = errors.New("not a delta")

// New reads the index of a delta of size bytes, of a version with that number of pieces.
func New(file io.ReaderAt, size int64, pieces int, base Pieces) (*Delta, error) {
	head := make([]byte, len(magic))
	if _, err := file.ReadAt(head, 0); err != nil || string(head) != magic {
		return nil, errNoDelta
	}
	d := &Delta{base: base, file: file, at: map[int]span{}}
	last := -1
	for offset := int64(len(magic)); offset < size; {
		var head [headLength]byte
		if _, err := file.ReadAt(head[:], offset); err != nil {
			return nil, fmt.Errorf("delta: %w", err)
		}
		piece, length := int(binary.BigEndian.Uint32(head[:4])), binary.BigEndian.Uint32(head[4:])
		offset += headLength
		if piece <= last || piece >= pieces || int64(length) > size-offset {
			return nil, fmt.Errorf("delta: piece %d with %d bytes after piece %d", piece, length, last)
		}
		d.at[piece] = span{offset, length}
		last, offset = piece, offset+int64(length)
	}
	return d, nil
}

// Read fills p with a piece, and reports whether it did.
func (d *Delta) Read(piece int, p []byte) bool {
	if !d.base.Read(piece, p) {
		return false
	}
	s, ok := d.at[piece]
	if !ok {
		return true
	}
	var r io.ReadCloser
	select {
	case r = <-readers:
	default:
		r = flate.NewReader(nil)
	}
	_ = r.(flate.Resetter).Reset(io.NewSectionReader(d.file, s.offset, int64(s.length)), nil)
	most := int64(len(p)) * 3 // a run has a gap and at most two numbers of five bytes
	runs, err := io.ReadAll(io.LimitReader(r, most))
	select {
	case readers <- r:
	default:
	}
	return err == nil && xorRuns(p, runs)
}
