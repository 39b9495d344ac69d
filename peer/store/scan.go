package store

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// scanBuffer is how much each worker of a scan reads at once.
const scanBuffer = 1 << 20

// ScanOptions are the choices for a [Scan]. Zero values are good.
type ScanOptions struct {
	// PieceLength in bytes; 0 stands for [proto.DefaultPieceLength].
	PieceLength uint32
	// Workers is how many pieces are hashed at a time, each with 1 MiB of
	// memory; 0 is one for each CPU.
	Workers int
	// Files is the cache to open files through; nil is one of the scan's own
	// with two files for each worker.
	Files *Files
	// Progress, if not nil, is told how many bytes are hashed and how many there
	// are: one call at a time, with both numbers only growing, the last when
	// they are equal.
	Progress func(done, total int64)
}

// Scan makes the manifest of the file or folder at root, which may be a symbolic
// link to it. It reads every byte once and keeps none; pieces that lie in holes
// of sparse files it need not read. The same files give the same manifest,
// whatever the workers.
//
// It fails with [*ChangedError] when a file changes meanwhile, and on what a
// manifest cannot hold: links that lead out of the folder, devices, sockets.
func Scan(ctx context.Context, root string, opt ScanOptions) (*proto.Manifest, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	path, err := resolve(given)
	if err != nil {
		return nil, err
	}
	m := &proto.Manifest{Name: filepath.Base(given), PieceLength: opt.PieceLength}
	if m.Entries, err = list(ctx, path); err != nil {
		return nil, err
	}
	if m.PieceLength == 0 {
		m.PieceLength = proto.DefaultPieceLength(m.Length())
	}
	m.Hashes = make([]byte, m.Pieces()*sha256.Size)
	// Before the work, which may take hours.
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := hashAll(ctx, path, m, opt); err != nil {
		return nil, err
	}
	return m, nil
}

// hashAll fills the hashes of m in from the files at path.
func hashAll(ctx context.Context, path string, m *proto.Manifest, opt ScanOptions) error {
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.Files == nil {
		opt.Files = NewFiles(2 * opt.Workers)
	}
	t, err := openTree(path, m, opt.Files)
	if err != nil {
		return err
	}
	defer t.close()
	s := &scanner{ctx: ctx, disk: newDisk(m, nil), progress: opt.Progress}
	s.disk.tree = t
	s.buffers.New = func() any { b := make([]byte, scanBuffer); return &b }
	if err := inParallel(ctx, m.Pieces(), opt.Workers, s.piece); err != nil {
		return err
	}
	return t.compare(ctx)
}

// scanner hashes pieces.
type scanner struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	disk    *Disk
	buffers sync.Pool // of *[]byte

	mu       sync.Mutex // held during calls of progress
	done     int64
	progress func(done, total int64)
}

// piece hashes one piece into the manifest.
func (s *scanner) piece(piece int) error {
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	sum, err := Hash(s, s.disk.m, piece, *buf)
	if err != nil {
		return err
	}
	copy(s.disk.m.Hashes[piece*sha256.Size:], sum[:])
	return nil
}

// ReadAt reads from the files and tells of the progress.
func (s *scanner) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.disk.ReadAt(p, offset)
	if n == len(p) {
		s.tell(n)
	}
	return n, noEOF(err)
}

// hashHole asks the files and tells of the progress.
func (s *scanner) hashHole(piece int) (sum [sha256.Size]byte, ok bool) {
	if sum, ok = s.disk.hashHole(piece); ok {
		s.tell(s.disk.m.PieceSize(piece))
	}
	return sum, ok
}

// tell adds n bytes to the progress.
func (s *scanner) tell(n int) {
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

// compare checks that no file changed since it was listed.
func (t *tree) compare(ctx context.Context) error {
	for file, entry := range t.layout.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := t.look(file)
		if err != nil {
			return err
		}
		e := &t.m.Entries[entry]
		if info == nil || info.Size() != e.Size || info.ModTime().UnixNano() != e.MTime {
			return &ChangedError{Path: t.fullPath(t.fileName(file)), Reason: "while it was hashed; try again", Err: notExist(info)}
		}
	}
	return nil
}

func notExist(info os.FileInfo) error {
	if info == nil {
		return os.ErrNotExist
	}
	return nil
}
