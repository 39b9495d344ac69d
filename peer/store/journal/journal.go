package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/mobgrid/mob/peer/store/vfs"
)

var (
	// ErrNone is returned by Open if there is no journal, or an unreadable one.
	ErrNone = errors.New("no readable journal of the transfer")
	// ErrOther is returned by Open if the journal is another content's.
	ErrOther = errors.New("the journal belongs to another content")
)

// Journal is the open journal of one content. Its methods must not be called at the
// same time, except for Sync.
type Journal struct {
	fs     vfs.FS
	path   string
	f      vfs.File
	header Header
	ledger *ledger
	next   uint32 // number of the next record
	buf    [recordSize]byte

	named atomic.Bool // the file's name is on the disk
}

// Create creates a journal at path for a content with that many pieces and files. It
// removes an existing file or link first and never truncates it, since path may be a link to another file.
func Create(fsys vfs.FS, path string, h Header, pieces, files int) (*Journal, error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL | syscall.O_NOFOLLOW
	f, err := fsys.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err = fsys.Remove(path); err == nil {
			f, err = fsys.OpenFile(path, flags, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		f.Close()
		return nil, err
	}
	return &Journal{fs: fsys, path: path, f: f, header: h, ledger: newLedger(pieces, files)}, nil
}

// Open opens the journal at path, which must not be a symbolic link, and cuts off a torn tail. It fails with [ErrNone]
// or [ErrOther].
func Open(fsys vfs.FS, path string, manifest [32]byte, pieces, files int) (*Journal, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{fs: fsys, path: path, f: f}
	if err := j.read(manifest, pieces, files); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) read(manifest [32]byte, pieces, files int) error {
	in := io.NewSectionReader(j.f, 0, math.MaxInt64)
	b := make([]byte, headerSize)
	if _, err := io.ReadFull(in, b); err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	h, ok := parseHeader(b)
	if !ok {
		return ErrNone
	}
	if h.Manifest != manifest {
		return ErrOther
	}
	l, records, err := replay(in, pieces, files)
	if err != nil {
		return err
	}
	if h.Seed && !l.completed {
		return ErrNone // cut off before its first record
	}
	j.header, j.ledger, j.next = h, l, records
	// Once records followed it, the tail would count as damage.
	return j.f.Truncate(headerSize + int64(j.next)*recordSize)
}

// append writes a record and applies it to the ledger. If it fails it does neither, and
// the next record overwrites what it wrote.
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

// Sync waits until all appended records are on the disk. It may be called at the same
// time as other methods.
func (j *Journal) Sync() error {
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	if j.named.Load() {
		return nil
	}
	if err := j.syncDir(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	j.named.Store(true)
	return nil
}

// syncDir flushes the directory of the file, which has its name. Not all file systems can.
func (j *Journal) syncDir() error {
	dir, err := j.fs.OpenFile(filepath.Dir(j.path), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
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
// doubtful. Within the same boot it does nothing.
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

// Doubt makes a piece doubtful.
func (j *Journal) Doubt(piece int) error {
	return j.append(record{kind: recordDoubt, index: uint32(piece)})
}

// Found makes a piece doubtful of which the files were there before the transfer.
func (j *Journal) Found(piece int) error {
	return j.append(record{kind: recordDoubt, index: uint32(piece), a: 1})
}

// Mark records that the pieces committed before Next returned covers are on the disk.
func (j *Journal) Mark(covers uint32) error {
	return j.append(record{kind: recordMark, a: uint64(covers)})
}

// SetFile records which file on the disk a file is.
func (j *Journal) SetFile(file int, f File) error {
	return j.append(record{kind: recordInode, index: uint32(file), a: f.Inode, b: f.flags()})
}

// SetEntry records what an entry is on the disk that is not a file with bytes. The root goes by the number of entries.
func (j *Journal) SetEntry(entry int, f File) error {
	return j.append(record{kind: recordEntry, index: uint32(entry), a: f.Inode, b: f.flags()})
}

// SetStamp records that what the records say of the pieces of a file is true of the file
// with that stamp.
func (j *Journal) SetStamp(file int, s Stamp) error {
	return j.append(record{kind: recordStamp, index: uint32(file), a: uint64(s.Changed), b: s.Inode})
}

// Complete makes every piece verified and on the disk, and the content whole. It stays
// whole until a piece is forgotten.
func (j *Journal) Complete() error { return j.append(record{kind: recordWhole}) }

// The following methods query what the records add up to.

// Seed reports whether the content is seeded in place.
func (j *Journal) Seed() bool { return j.header.Seed }

// Manifest returns the SHA-256 of the content's manifest.
func (j *Journal) Manifest() [32]byte { return j.header.Manifest }

// State returns the state of a piece.
func (j *Journal) State(piece int) State { return j.ledger.state[piece] }

// Verified reports whether a piece is verified.
func (j *Journal) Verified(piece int) bool { return j.State(piece) == Verified }

// Lasting reports whether a piece is verified or doubtful, and was there before the boot of
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

// Whole reports whether the content is whole.
func (j *Journal) Whole() bool { return j.ledger.whole }

// File returns which file on the disk a file is, zero if that is not recorded.
func (j *Journal) File(file int) File { return j.ledger.files[file] }

// Entry is File for what SetEntry records.
func (j *Journal) Entry(entry int) File { return j.ledger.entries[uint32(entry)] }

// Stamp returns the last stamp of a file, zero if there is none.
func (j *Journal) Stamp(file int) Stamp { return j.ledger.stamps[file] }

// WasWhole reports whether the content is or was whole.
func (j *Journal) WasWhole() bool { return j.ledger.completed }

// Next returns the number of the next record. Records are numbered from 0.
func (j *Journal) Next() uint32 { return j.next }
