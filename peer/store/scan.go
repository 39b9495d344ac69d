package store

import (
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// ScanOptions configures a [Scan].
type ScanOptions struct {
	// PieceLength is in bytes; the default is [proto.DefaultPieceLength].
	PieceLength uint32
	// LeastPiece is the least length in bytes that is chosen where PieceLength is 0.
	LeastPiece uint32
	// FS is the file system of the files; the default is the system's.
	FS vfs.FS
	// FollowLinks takes files and directories outside root that symbolic links lead to, once
	// each: further links to one become links in the content. Stores then need [vfs.Follow].
	FollowLinks bool
	// Outside, if not nil, is called with the paths that are taken by FollowLinks. If it fails, so does
	// the scan.
	Outside func(path string) error
	// SkipUnreadable, if not nil, leaves out what may not be read, and is called with the path in the
	// content of each such file or directory.
	SkipUnreadable func(path string)
	// Accept, if not nil, is called with the manifest before anything is read, while
	// its hashes are zeros. If it fails, so does the scan.
	Accept func(*proto.Manifest) error
	// Progress, if not nil, is called with the number of bytes hashed and to hash in
	// total, by one goroutine at a time and with increasing numbers. They are equal
	// in the last call.
	Progress func(done, total int64)
}

// Scan returns the manifest of the file or directory at root, which may be a symbolic
// link to it. It reads every byte once, except for pieces that lie in holes of sparse
// files. One goroutine per CPU hashes pieces, with a buffer of 1 MiB.
//
// Scan fails with [*ChangedError] if anything changes while it hashes: at the end it lists the tree again.
// It fails with [*ClosedError] if anything may not be read, and on what a manifest cannot hold: links
// that lead out of the directory, devices, sockets.
func Scan(ctx context.Context, root string, opt ScanOptions) (*proto.Manifest, error) {
	m, _, err := scan(ctx, root, opt, false)
	return m, err
}

// ScanSHA1 is [Scan] and also returns the SHA-1 of each piece, joined. It reads each
// byte once for both hashes, and takes about twice as much CPU time as Scan.
func ScanSHA1(ctx context.Context, root string, opt ScanOptions) (*proto.Manifest, []byte, error) {
	return scan(ctx, root, opt, true)
}

func scan(ctx context.Context, root string, opt ScanOptions, both bool) (m *proto.Manifest, sha1s []byte, err error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	if opt.FS == nil {
		opt.FS = vfs.OS{}
	}
	path, err := resolve(opt.FS, given)
	if err != nil {
		return nil, nil, err
	}
	l, err := list(ctx, path, &opt, nil)
	if err == nil {
		err = l.skip(opt.SkipUnreadable)
	}
	if err != nil {
		return nil, nil, err
	}
	m = &proto.Manifest{Name: filepath.Base(given), Root: l.top, Entries: l.entries}
	if err := opt.prepare(m); err != nil {
		return nil, nil, err
	}
	if both {
		sha1s = make([]byte, m.Pieces()*sha1.Size)
	}
	err = hashAll(ctx, path, m, opt, sha1s)
	if errors.Is(err, io.ErrUnexpectedEOF) { // a file was truncated
		err = cmp.Or(l.check(ctx, &opt), err)
	}
	if err != nil {
		return nil, nil, asRemoved(err)
	}
	return m, sha1s, l.check(ctx, &opt)
}

// ScanReader returns the manifest of a file of a name with the bytes of r, without a modification time.
func ScanReader(ctx context.Context, name string, r *io.SectionReader, opt ScanOptions) (*proto.Manifest, error) {
	file := proto.Entry{Kind: proto.File, Size: r.Size(), Mode: 0o644, MTime: proto.NoMTime}
	m := &proto.Manifest{Name: name, Entries: []proto.Entry{file}}
	if err := opt.prepare(m); err != nil {
		return nil, err
	}
	return m, hashPieces(ctx, r, m, opt, nil)
}

// prepare completes a manifest, except for the hashes, which are zeros. It reports what is wrong before the work, which
// may take hours.
func (opt *ScanOptions) prepare(m *proto.Manifest) error {
	m.PieceLength = opt.PieceLength
	if m.PieceLength == 0 {
		m.PieceLength = max(proto.DefaultPieceLength(m.Length()), opt.LeastPiece)
	}
	m.Hashes = make([]byte, m.Pieces()*sha256.Size)
	if err := m.Validate(); err != nil || opt.Accept == nil {
		return err
	}
	return opt.Accept(m)
}

// hashAll hashes the files at path into m, and into sha1s unless that is nil.
func hashAll(ctx context.Context, path string, m *proto.Manifest, opt ScanOptions, sha1s []byte) error {
	if opt.FollowLinks {
		opt.FS = vfs.Follow(opt.FS)
	}
	at, err := openPlace(opt.FS, path)
	if err != nil {
		return err
	}
	defer at.close()
	d := newDisk(m, NewFilesOn(opt.FS, 2*runtime.GOMAXPROCS(0)))
	t := d.tree
	if err := t.open(at); err != nil {
		return err
	}
	defer func() { d.closeFiles(); _ = t.root.Close() }()
	if err := t.checkAllEmpty(ctx); err != nil {
		return err
	}
	if sha1s != nil {
		d.zeros = sync.OnceValue(func() pieceSum { return hashZeros(newBothHashes(), int64(m.PieceLength)) })
	}
	return hashPieces(ctx, d, m, opt, sha1s)
}

// hashPieces hashes the pieces that it reads from r into m, and into sha1s unless that is nil.
func hashPieces(ctx context.Context, r io.ReaderAt, m *proto.Manifest, opt ScanOptions, sha1s []byte) error {
	newHash := func() PieceHash { return newPieceHash(m) }
	if sha1s != nil {
		newHash = newBothHashes
	}
	var mu sync.Mutex // held during calls of Progress
	var done int64
	return InParallel(ctx, m.Pieces(), func(piece int) error {
		sum, err := hashPiece(r, newHash(), m, piece, m.PieceSize(piece))
		if err != nil {
			return err
		}
		copy(m.Hashes[piece*sha256.Size:], sum.sha256[:])
		if sha1s != nil {
			copy(sha1s[piece*sha1.Size:], sum.sha1[:])
		}
		if opt.Progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done += int64(m.PieceSize(piece))
			opt.Progress(done, m.Length())
		}
		return nil
	})
}

// checkAllEmpty is checkEmpty for all files of no bytes.
func (t *tree) checkAllEmpty(ctx context.Context) error {
	for i := range t.m.Entries {
		if t.m.Entries[i].Kind != proto.File || t.m.Entries[i].Size > 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		name := t.name(i)
		f, _, err := t.openRegular(name, os.O_RDONLY)
		if err == nil {
			err = t.checkEmpty(f, name)
			_ = f.Close() // nothing was written
		}
		if err != nil {
			return err
		}
	}
	return nil
}
