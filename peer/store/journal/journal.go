package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrNone answers Open when there is no journal, or one that cannot be read
	// at all.
	ErrNone = errors.New("no readable journal of the transfer")
	// ErrOther answers Open when the journal is of another content.
	ErrOther = errors.New("the journal is of another content")
)

// Journal appends to the file of one content and answers from what it says. It
// is for one user at a time, but for Sync.
type Journal struct {
	f      *os.File
	header Header
	ledger *ledger
	next   uint32 // number of the next record
	buf    [recordSize]byte
}

// Create makes a new journal at path, in place of any that is there, for a
// content of that many pieces and files.
func Create(path string, h Header, pieces, files int) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		f.Close()
		return nil, err
	}
	return &Journal{f: f, header: h, ledger: newLedger(pieces, files)}, nil
}

// Open reads the journal at path back and cuts a torn tail off. It fails with
// [ErrNone] or [ErrOther].
func Open(path string, manifest [32]byte, pieces, files int) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{f: f}
	if err := j.read(manifest, pieces, files); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) read(manifest [32]byte, pieces, files int) error {
	b := make([]byte, headerSize)
	if _, err := io.ReadFull(j.f, b); err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	var ok bool
	if j.header, ok = parseHeader(b); !ok {
		return ErrNone
	}
	if j.header.Manifest != manifest {
		return ErrOther
	}
	var err error
	if j.ledger, j.next, err = replay(j.f, pieces, files); err != nil {
		return err
	}
	if j.header.Seed && !j.ledger.whole {
		return ErrNone // cut short before it said anything
	}
	// Left there, the tail would be taken for damage once records follow it.
	return j.f.Truncate(headerSize + int64(j.next)*recordSize)
}

// append writes one record and takes it in. When it fails neither has happened,
// and the next record takes the place of what was written of it.
func (j *Journal) append(r record) error {
	r.number = j.next
	r.put(j.buf[:])
	if _, err := j.f.WriteAt(j.buf[:], headerSize+int64(j.next)*recordSize); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.next++
	j.ledger.apply(r)
	return nil
}

// Sync waits until all that was appended is on the disk. It may run beside any
// other method.
func (j *Journal) Sync() error {
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// Close closes the file, and leaves what is not on the disk yet to the system.
func (j *Journal) Close() error { return j.f.Close() }

// Remove closes and deletes the file.
func (j *Journal) Remove() error {
	return errors.Join(j.f.Close(), os.Remove(j.f.Name()))
}
