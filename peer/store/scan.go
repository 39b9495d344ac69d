package store

import (
	"context"
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/mobgrid/mob/peer/store/vfs"
	"github.com/mobgrid/mob/proto"
)

// scanBuffer is the read size of each worker of a scan, in bytes.
const scanBuffer = 1 << 20

// ScanOptions configures a [Scan].
type ScanOptions struct {
	// PieceLength is in bytes; the default is [proto.DefaultPieceLength].
	PieceLength uint32
	// LeastPiece is the least length in bytes that is chosen where PieceLength is 0.
	LeastPiece uint32
	// Workers is the number of pieces hashed at a time, each with a buffer of 1 MiB;
	// the default is one per CPU.
	Workers int
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

func (o *ScanOptions) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Scan returns the manifest of the file or directory at root, which may be a symbolic
// link to it. It reads every byte once, except for pieces that lie in holes of sparse
// files. The manifest does not depend on the number of workers.
//
// Scan fails with [*ChangedError] if anything changes while it hashes: at the end it lists the tree again.
// It fails with [*ClosedError] if anything may not be read, and on what a manifest cannot hold: links
// that lead out of the directory, devices, sockets.
func Scan(ctx context.Context, root string, opt ScanOptions) (*proto.Manifest, error) {
	return scan(ctx, root, opt, nil)
}

// scan is Scan. It adds the SHA-1 of the pieces to sums, unless that is nil.
func scan(ctx context.Context, root string, opt ScanOptions, sums *sha1Sums) (*proto.Manifest, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if opt.FS == nil {
		opt.FS = vfs.OS{}
	}
	path, err := resolve(opt.FS, given)
	if err != nil {
		return nil, err
	}
	l, err := list(ctx, path, &opt)
	if err == nil {
		err = l.skip(opt.SkipUnreadable)
	}
	if err != nil {
		return nil, err
	}
	m := &proto.Manifest{Name: filepath.Base(given), PieceLength: opt.PieceLength, Root: l.top, Entries: l.entries}
	if m.PieceLength == 0 {
		m.PieceLength = max(proto.DefaultPieceLength(m.Length()), opt.LeastPiece)
	}
	m.Hashes = make([]byte, m.Pieces()*sha256.Size)
	// Before the work, which may take hours.
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if opt.Accept != nil {
		if err := opt.Accept(m); err != nil {
			return nil, err
		}
	}
	if sums != nil {
		*sums = newSHA1Sums(m)
	}
	if err := hashAll(ctx, path, m, opt, sums); err != nil {
		return nil, asRemoved(err)
	}
	return m, l.check(ctx, &opt)
}

// hashAll hashes the files at path into m, and into sums unless that is nil.
func hashAll(ctx context.Context, path string, m *proto.Manifest, opt ScanOptions, sums *sha1Sums) error {
	opt.Workers = opt.workers()
	if opt.FollowLinks {
		opt.FS = vfs.Follow(opt.FS)
	}
	at, err := openPlace(opt.FS, path)
	if err != nil {
		return err
	}
	defer at.close()
	d := newDisk(m, NewFilesOn(opt.FS, 2*opt.Workers))
	t := d.tree
	if err := t.open(at); err != nil {
		return err
	}
	t.opt.exact = true
	defer func() { d.closeFiles(); _ = t.root.Close() }()
	if err := t.checkEmpty(ctx); err != nil {
		return err
	}
	s := newScanner(ctx, d, opt)
	return InParallel(ctx, m.Pieces(), opt.Workers, func(piece int) error {
		sum, err := s.hash(piece, sums)
		copy(m.Hashes[piece*sha256.Size:], sum[:])
		return err
	})
}

// scanner hashes pieces of the content and reports its progress.
type scanner struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	disk    *Disk
	buffers sync.Pool // of *[]byte

	mu       sync.Mutex // held during calls of progress
	done     int64
	progress func(done, total int64)
}

func newScanner(ctx context.Context, d *Disk, opt ScanOptions) *scanner {
	s := &scanner{ctx: ctx, disk: d, progress: opt.Progress}
	s.buffers.New = func() any { b := make([]byte, scanBuffer); return &b }
	return s
}

// hash returns the SHA-256 of a piece, and adds its SHA-1 to sums unless that is nil.
func (s *scanner) hash(piece int, sums *sha1Sums) ([sha256.Size]byte, error) {
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	if sums != nil {
		return sums.hash(s, piece, *buf)
	}
	sum, err := hashPiece(s, s.disk.m, piece, s.disk.m.PieceSize(piece), *buf)
	return sum.sha256, err
}

// ReadAt implements [io.ReaderAt].
func (s *scanner) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.disk.ReadAt(p, offset)
	if n == len(p) {
		s.advance(n)
	}
	return n, unexpectedEOF(err)
}

// hashHole implements [holeHasher].
func (s *scanner) hashHole(piece int) (sum pieceSum, ok bool) {
	sum, ok = s.disk.hashHole(piece)
	if ok {
		s.advance(s.disk.m.PieceSize(piece))
	}
	return sum, ok
}

// advance reports that n more bytes are hashed.
func (s *scanner) advance(n int) {
	if s.progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += int64(n)
	s.progress(s.done, s.disk.m.Length())
}

var (
	_ io.ReaderAt = (*scanner)(nil)
	_ holeHasher  = (*scanner)(nil)
)

// checkEmpty fails unless the files of no bytes have none.
func (t *tree) checkEmpty(ctx context.Context) error {
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
			err = t.checkEnd(f, name, 0)
			_ = f.Close() // nothing was written
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func notExist(info fs.FileInfo) error {
	if info == nil {
		return fs.ErrNotExist
	}
	return nil
}
