package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// Create starts a new transfer of the content of m, which must be valid, to root, the
// path of the file or directory itself. Its state goes to the directory dir, which is
// this transfer's alone; Create replaces a journal there. Open files are kept in
// files. Pieces of zeros are verified from the start where the file system has holes.
//
// Create fails with [*ExistsError] if root exists, and does not create its parent. The journal and its
// name are on the disk before root is created; the name of dir is up to the caller.
func Create(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	at, err := openFree(files.fs, root)
	if err != nil {
		return nil, err
	}
	defer at.close()
	if err := at.checkFree(m); err != nil {
		return nil, err
	}
	d := opening{Disk: newDisk(m, files)}
	if err := d.createJournal(dir, JournalFile, false); err != nil {
		return nil, err
	}
	// After a power loss, a destination without a journal would count as another program's.
	if err = d.journal.Sync(); err == nil {
		err = at.create(m)
	}
	if err != nil {
		_ = d.journal.Remove() // the next try replaces a journal that cannot be removed
		return nil, err
	}
	if err := d.openTree(at); err != nil {
		return nil, err
	}
	if !isSingle(m) {
		if err := cmp.Or(d.recordRoot(true), d.journal.Sync()); err != nil { // Open does not record it again
			return nil, errors.Join(err, d.Close())
		}
	}
	// A directory that was just created has no files.
	if err := d.journal.Boot(journal.CurrentBoot()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if isSingle(m) && m.Entries[0].Size > 0 {
		if err := (writer{d.Disk}).prepare(0); err != nil {
			return nil, errors.Join(cannotCreate(at.path, err), d.Close())
		}
	}
	if err := (writer{d.Disk}).commitHoles(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d.Disk, nil
}

// Adopt is [Create] for a destination that may already have parts of the content. All
// pieces of the files that are there are unverified at first. Files of the content that turn
// out to differ are overwritten; other files in the directory are left alone. All of them stay the user's, see [Remove].
func Adopt(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	return adopt(dir, root, m, files, true)
}

// Again is [Create] for a destination that [Open] found to be [ErrGone], or after [ErrNoJournal]. Files that are there stay
// the user's, and are read only: the store may have created them, but so may another program.
func Again(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	return adopt(dir, root, m, files, false)
}

func adopt(dir, root string, m *proto.Manifest, files *Files, takeOver bool) (*Disk, error) {
	d, err := Create(dir, root, m, files)
	if _, exists := errors.AsType[*ExistsError](err); !exists {
		return d, err
	}
	at, err := openFree(files.fs, root)
	if err != nil {
		return nil, err
	}
	defer at.close()
	if err := at.check(m); err != nil {
		return nil, err
	}
	return opening{Disk: newDisk(m, files), fresh: true, takeOver: takeOver}.startJournal(dir, at, false)
}

// Seed serves the content at root, of which [Scan] has just made m. It never writes
// there; root may be a symbolic link. Every piece is verified. Seed fails with
// [*ChangedError] if a file is not as Scan found it. Then it leaves the old journal.
func Seed(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	root, err := resolve(files.fs, root)
	if err != nil {
		return nil, err
	}
	at, err := openPlace(files.fs, root)
	if err != nil {
		return nil, err
	}
	defer at.close()
	if err := at.check(m); err != nil {
		return nil, err
	}
	return opening{Disk: newDisk(m, files), fresh: true, seeded: make(map[int]journal.File)}.startJournal(dir, at, true)
}

// startJournal starts a store of content that exists, with a new journal.
func (d opening) startJournal(dir string, at *place, seed bool) (*Disk, error) {
	if err := d.createJournal(dir, newJournalFile, seed); err != nil {
		return nil, err
	}
	if err := d.openTree(at); err != nil {
		return nil, err
	}
	if err := d.start(journal.CurrentBoot()); err != nil {
		return nil, err
	}
	if err := errors.Join(d.journal.Rename(JournalFile), d.journal.Sync()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d.Disk, nil
}

// newDisk returns a store of the content of m without a journal. Its files are not open.
func newDisk(m *proto.Manifest, files *Files) *Disk {
	d := &Disk{
		pieces: newPieces(m),
		tree:   &tree{layout: newLayout(m), files: files, names: names{changed: make(map[string]bool)}},
		files:  &table{files: make([]fileRecord, len(m.Entries)+1)},
		flush:  flushState{every: syncEvery},
		zeros:  sync.OnceValue(func() pieceSum { return hashZeros(newPieceHash(m), int64(m.PieceLength)) }),
	}
	d.parts.files, d.parts.owner = files, d
	return d
}

// createJournal creates a journal with that name.
func (d opening) createJournal(dir, name string, seed bool) error {
	id, err := d.m.Digest()
	if err != nil {
		return err
	}
	fsys := d.tree.files.state
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	d.parts.path = filepath.Join(dir, partsFile)
	d.journal, err = journal.Create(fsys, filepath.Join(dir, name), journal.Header{Seed: seed, Manifest: id}, d.shape())
	return err
}

// openJournal opens the journal.
func (d opening) openJournal(dir string) error {
	id, err := d.m.Digest()
	if err != nil {
		return err
	}
	d.parts.path = filepath.Join(dir, partsFile)
	d.journal, err = journal.Open(d.tree.files.state, filepath.Join(dir, JournalFile), id, d.shape())
	if err != nil {
		return err
	}
	for i := range d.files.files {
		d.files.files[i].File = d.journal.File(i)
	}
	return nil
}

// shape describes the content to the journal.
func (d opening) shape() journal.Shape {
	return journal.Shape{Pieces: d.m.Pieces(), Entries: len(d.m.Entries), PiecesOf: d.tree.filePieces}
}

// Files in a state directory.
const (
	JournalFile    = "journal"
	newJournalFile = "journal.new" // until it has all of its first records
	partsFile      = "parts"
)

// cannotCreate adds advice to why the root was not created.
func cannotCreate(root string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("cannot create %s: %w: choose another path, or allow writing to %s",
			root, fs.ErrPermission, filepath.Dir(root))
	}
	return err
}

func existsError(root string, info fs.FileInfo, m *proto.Manifest) error {
	e := &ExistsError{Path: root, Dir: info.IsDir()}
	if isSingle(m) {
		e.Name = m.Name
	}
	return e
}

// resolve returns the absolute path that path leads to by symbolic links.
func resolve(fsys vfs.FS, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return fsys.Resolve(path)
}
