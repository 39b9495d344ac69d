package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/mobgrid/mob/peer/store/vfs"
)

var (
	// ErrNone is returned by Open if there is no journal, or an unreadable one.
	ErrNone = errors.New("no readable journal of the transfer")
	// ErrOther is returned by Open if the journal belongs to other content.
	ErrOther = errors.New("the journal belongs to other content")
)

// Journal is an open journal. Its methods must not be called at the
// same time, except for Sync.
type Journal struct {
	fs     vfs.FS
	path   string
	f      vfs.File
	header Header
	shape  Shape
	ledger *ledger
	next   uint32 // number of the next record
	buf    []byte

	named atomic.Bool // the file's name is on the disk
}

// Create creates a journal at path for content of a shape. It
// removes an existing file or link first and never truncates it, since path may be a link to another file.
func Create(fsys vfs.FS, path string, h Header, shape Shape) (*Journal, error) {
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		f.Close()
		return nil, err
	}
	j := &Journal{fs: fsys, path: path, f: f, header: h, shape: shape}
	j.ledger = newLedger(&j.shape, h.Seed)
	return j, nil
}

// Open opens the journal at path, which must not be a symbolic link, and cuts off a torn tail. It rewrites a journal of
// version 1. It fails with [ErrNone] or [ErrOther].
func Open(fsys vfs.FS, path string, manifest [32]byte, shape Shape) (*Journal, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{fs: fsys, path: path, f: f, shape: shape}
	records, version, err := j.read(manifest)
	if err == nil && version == 1 {
		return j.upgrade(records)
	}
	if err == nil {
		err = j.restore(records)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// read reads the header, and returns what follows it.
func (j *Journal) read(manifest [32]byte) (records []byte, version uint32, err error) {
	b, err := io.ReadAll(io.NewSectionReader(j.f, 0, math.MaxInt64))
	if err != nil {
		return nil, 0, err
	}
	j.header, version = parseHeader(b)
	switch {
	case version == 0:
		return nil, 0, ErrNone
	case j.header.Manifest != manifest:
		return nil, 0, ErrOther
	}
	return b[headerSize:], version, nil
}

// restore applies the records of the file, and writes them again: if a flush has failed, they are in memory only, and no later
// flush would write them to the disk.
func (j *Journal) restore(records []byte) error {
	j.ledger = newLedger(&j.shape, j.header.Seed)
	j.next = replay(records, j.ledger)
	b := append(j.header.encode(), records[:j.next*recordSize]...)
	_, _ = j.f.WriteAt(b, 0) // if it fails, a power loss costs what a flush has lost
	// Once records followed it, the tail would count as damage.
	return j.f.Truncate(int64(len(b)))
}

// append writes records and applies them to the ledger. If it fails it does neither, and
// the next record overwrites what it wrote.
func (j *Journal) append(records ...record) error {
	j.buf = j.buf[:0]
	for i := range records {
		records[i].number = j.next + uint32(i)
		j.buf = records[i].append(j.buf)
	}
	if _, err := j.f.WriteAt(j.buf, headerSize+int64(j.next)*recordSize); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	j.next += uint32(len(records))
	for _, r := range records {
		j.ledger.apply(r)
	}
	return nil
}

// Sync waits until all appended records are on the disk. It may be called at the same
// time as other methods.
func (j *Journal) Sync() error {
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	if j.named.Load() {
		return nil
	}
	if err := vfs.SyncDir(j.fs, filepath.Dir(j.path)); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	j.named.Store(true)
	return nil
}

// Close closes the file without waiting for the disk.
func (j *Journal) Close() error { return j.f.Close() }

// Rename gives the file another name in its directory, in the place of a file that has it. It waits until the records
// are on the disk.
func (j *Journal) Rename(name string) error {
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	dir, err := j.fs.OpenRoot(filepath.Dir(j.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Rename(filepath.Base(j.path), name); err != nil {
		return err
	}
	j.path = filepath.Join(filepath.Dir(j.path), name)
	return nil
}

// Remove closes and deletes the file.
func (j *Journal) Remove() error {
	return errors.Join(j.f.Close(), j.fs.Remove(j.path))
}

// The following methods append one record each. They do not wait for the disk.

// Boot starts a session under a boot of the machine. Unless it is the boot of the
// records before, and both are known, verified pieces that no mark covers become
// unverified. Within the same boot it does nothing. The zero BootID makes them unverified in any case.
func (j *Journal) Boot(id BootID) error {
	if j.SameBoot(id) {
		return nil
	}
	return j.append(bootRecord(id))
}

// Commit makes a piece verified.
func (j *Journal) Commit(piece int) error {
	return j.append(record{kind: recordCommit, index: uint32(piece)})
}

// Forget makes a piece missing.
func (j *Journal) Forget(piece int) error {
	return j.append(record{kind: recordForget, index: uint32(piece)})
}

// Mark records that the pieces committed before Next returned covers are on the disk.
func (j *Journal) Mark(covers uint32) error {
	return j.append(record{kind: recordMark, a: uint64(covers)})
}

// Complete records that every piece is verified and on the disk.
func (j *Journal) Complete() error {
	return j.append(record{kind: recordMark, flags: flagAll, a: uint64(j.next)})
}

// SetFile records the file on the disk of an entry. The records of its pieces hold while it has that stamp.
func (j *Journal) SetFile(entry int, f File) error { return j.append(j.fileRecords(entry, f, 0)...) }

// SetFiles is SetFile for several entries. It writes all records by one call.
func (j *Journal) SetFiles(files map[int]File) error {
	records := make([]record, 0, len(files))
	for entry, f := range files {
		records = append(records, j.fileRecords(entry, f, 0)...)
	}
	return j.append(records...)
}

// Unverify is SetFile, and makes the verified pieces of the file unverified.
func (j *Journal) Unverify(entry int, f File) error {
	return j.append(j.fileRecords(entry, f, flagUnverified)...)
}

// Found is SetFile for a file that is older than the transfer, and makes all of its pieces unverified.
func (j *Journal) Found(entry int, f File) error {
	return j.append(j.fileRecords(entry, f, flagFound)...)
}

// fileRecords returns the records of a file. One has the time of its last change. It follows one with the time of its creation,
// unless that is known.
func (j *Journal) fileRecords(entry int, f File, flags uint8) []record {
	records := []record{fileRecord(entry, f, flags)}
	if was := j.File(entry); f.Changed != 0 && f.Born != 0 && (f.Inode != was.Inode || f.Born != was.Born) {
		f.Changed = 0
		records = slices.Insert(records, 0, fileRecord(entry, f, 0))
	}
	return records
}

// The following methods query what the records add up to.

// Seed reports whether the content is seeded in place.
func (j *Journal) Seed() bool { return j.header.Seed }

// Manifest returns the SHA-256 of the content's manifest.
func (j *Journal) Manifest() [32]byte { return j.header.Manifest }

// State returns the state of a piece.
func (j *Journal) State(piece int) State { return j.ledger.state[piece] }

// Verified reports whether a piece is verified.
func (j *Journal) Verified(piece int) bool { return j.State(piece) == Verified }

// Lasting reports whether a piece is verified or unverified, and is older than the boot of
// the machine with that id: on the disk, or found there.
func (j *Journal) Lasting(piece int, id BootID) bool {
	l := j.ledger
	return l.state[piece] != Missing && (j.SameBoot(id) || l.number[piece] < l.mark || l.number[piece] == 0)
}

// SameBoot reports whether the last records were written under the boot with that id.
func (j *Journal) SameBoot(id BootID) bool {
	return j.ledger.booted && j.ledger.boot == id && id != BootID{}
}

// Unmarked returns the verified pieces that are not known to be on the disk.
func (j *Journal) Unmarked() []int { return j.ledger.verifiedFrom(j.ledger.mark) }

// Marked reports whether pieces are known to be on the disk, or the content was complete: a seed is from the start.
func (j *Journal) Marked() bool { return j.ledger.mark > 0 }

// File returns the record of an entry, zero if there is none.
func (j *Journal) File(entry int) File { return j.ledger.files[entry] }

// Next returns the number of the next record. Records are numbered from 0.
func (j *Journal) Next() uint32 { return j.next }
