package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/mobgrid/mob/peer/store/journal"
	"github.com/mobgrid/mob/proto"
)

// Create starts a new transfer of the content of m, which must be valid, to
// root: the file or folder itself. The state goes to dir, which is this
// transfer's alone; a journal there is replaced. Many stores share files. Pieces
// of zeros are verified from the start where the file system keeps holes.
//
// It fails with [*ExistsError] when there is something at root, and it does not
// make the folder that root is in.
func Create(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if err := checkFree(root, m); err != nil {
		return nil, err
	}
	d, err := begin(dir, m, false)
	if err != nil {
		return nil, err
	}
	if err := makeRoot(root, m); err != nil {
		return nil, d.abandon(err)
	}
	if d, err = d.start(root, files); err != nil {
		return nil, err
	}
	if err := d.commitHoles(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Adopt is [Create] for a destination where parts of the content may be already.
// What is there is doubtful at first. Files of the content that turn out to
// differ are overwritten; other files in the folder are left alone.
func Adopt(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(root); errors.Is(err, fs.ErrNotExist) {
		return Create(dir, root, m, files)
	}
	if err := checkRoot(root, m); err != nil {
		return nil, err
	}
	d, err := begin(dir, m, false)
	if err != nil {
		return nil, err
	}
	for piece := range m.Pieces() {
		if err := d.journal.Doubt(piece); err != nil {
			return nil, d.abandon(err)
		}
	}
	return d.start(root, files)
}

// Seed shares the content that is at root, for which [Scan] has just made m.
// Nothing there is ever written to; root may be a symbolic link. Every piece is
// verified. It fails with [*ChangedError] when a file is not as Scan found it.
func Seed(dir, root string, m *proto.Manifest, files *Files) (*Disk, error) {
	root, err := resolve(root)
	if err != nil {
		return nil, err
	}
	if err := checkRoot(root, m); err != nil {
		return nil, err
	}
	d, err := begin(dir, m, true)
	if err != nil {
		return nil, err
	}
	if err := d.journal.Complete(); err != nil {
		return nil, d.abandon(err)
	}
	if d, err = d.start(root, files); err != nil {
		return nil, err
	}
	if d.Count() == m.Pieces() {
		return d, d.journal.Sync()
	}
	defer d.Close()
	for piece := range m.Pieces() {
		if path, changed := d.Changed(piece); changed {
			return nil, &ChangedError{Path: path, Reason: "since it was hashed; try again"}
		}
	}
	return nil, &ChangedError{Path: root, Reason: "while it was looked at; try again"}
}

// begin makes the journal of a new store.
func begin(dir string, m *proto.Manifest, seed bool) (*Disk, error) {
	id, err := m.Digest()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := newLayout(m)
	j, err := journal.Create(journalPath(dir), journal.Header{Seed: seed, Manifest: id}, m.Pieces(), l.files())
	if err != nil {
		return nil, err
	}
	d := newDisk(m, j)
	if err := j.Boot(journal.CurrentBoot()); err != nil {
		return nil, d.abandon(err)
	}
	return d, nil
}

func newDisk(m *proto.Manifest, j *journal.Journal) *Disk {
	return &Disk{
		m: m, syncEvery: syncEvery, verified: newBitset(m.Pieces()), journal: j,
		zeros: sync.OnceValue(func() pieceSum { return zeros(newPieceHash(m), int64(m.PieceLength)) }),
	}
}

// journalPath is the one file in a transfer's state folder.
func journalPath(dir string) string { return filepath.Join(dir, "journal") }

// abandon takes back a store that could not be started, and returns why.
func (d *Disk) abandon(err error) error {
	// What matters is err; the next try replaces a journal that is left.
	_ = d.journal.Remove()
	return err
}

// makeRoot makes the content's folder, or the file that it is.
func makeRoot(root string, m *proto.Manifest) error {
	var err error
	if isSingle(m) {
		var f *os.File
		if f, err = os.OpenFile(root, os.O_RDWR|os.O_CREATE|os.O_EXCL, transferFileMode); err == nil {
			err = f.Close()
		}
	} else {
		err = os.Mkdir(root, 0o777)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("cannot create %s: %w: choose another path, or allow writing to %s", root, fs.ErrPermission, filepath.Dir(root))
	}
	return err
}

// checkFree reports why root cannot be made.
func checkFree(root string, m *proto.Manifest) error {
	if info, err := os.Lstat(root); err == nil {
		return existsError(root, info, m)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(root)
	if info, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s does not exist: create it first", parent)
	} else if err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder: choose another path", parent)
	}
	return nil
}

// checkRoot reports why what is at root cannot be the content of m.
func checkRoot(root string, m *proto.Manifest) error {
	info, err := os.Lstat(root)
	if err != nil {
		return err
	}
	if single := isSingle(m); single && !info.Mode().IsRegular() || !single && !info.IsDir() {
		return existsError(root, info, m)
	}
	return nil
}

func existsError(root string, info fs.FileInfo, m *proto.Manifest) error {
	e := &ExistsError{Path: root, Dir: info.IsDir()}
	if isSingle(m) {
		e.Name = m.Name
	}
	return e
}

// resolve follows the symbolic links of a path that the user gave.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}
