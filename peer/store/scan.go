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
	// Accept, if not nil, is asked about the tree before anything is read, and its
	// error ends the scan. The manifest's hashes are zeros then.
	Accept func(*proto.Manifest) error
	// Progress, if not nil, is told how many bytes are hashed and how many there
	// are: one call at a time, with both numbers only growing, the last when
	// they are equal.
	Progress func(done, total int64)
}

func (o *ScanOptions) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Scan makes the manifest of the file or folder at root, which may be a symbolic
// link to it. It reads every byte once and keeps none; pieces that lie in holes
// of sparse files it need not read. The same files give the same manifest,
// whatever the workers.
//
// It fails with [*ChangedError] when a file changes meanwhile, and on what a
// manifest cannot hold: links that lead out of the folder, devices, sockets.
func Scan(ctx context.Context, root string, opt ScanOptions) (*proto.Manifest, error) {
	return scan(ctx, root, opt, nil)
}

// scan is Scan. The SHA-1 of the pieces go to sums too, unless it is nil.
func scan(ctx context.Context, root string, opt ScanOptions, sums *sha1Sums) (*proto.Manifest, error) {
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
	if opt.Accept != nil {
		if err := opt.Accept(m); err != nil {
			return nil, err
		}
	}
	if sums != nil {
		*sums = newSHA1Sums(m)
	}
	if err := hashAll(ctx, path, m, opt, sums); err != nil {
		return nil, err
	}
	return m, nil
}

// hashAll fills the hashes of m in from the files at path, and sums if it is there.
func hashAll(ctx context.Context, path string, m *proto.Manifest, opt ScanOptions, sums *sha1Sums) error {
	opt.Workers = opt.workers()
	if opt.Files == nil {
		opt.Files = NewFiles(2 * opt.Workers)
	}
	t, err := openTree(path, m, opt.Files)
	if err != nil {
		return err
	}
	defer t.close()
	d := newDisk(m, nil)
	d.tree = t
	s := newScanner(ctx, d, m, opt)
	err = inParallel(ctx, m.Pieces(), opt.Workers, func(piece int) error {
		sum, err := s.hash(piece, sums)
		copy(m.Hashes[piece*sha256.Size:], sum[:])
		return err
	})
	if err != nil {
		return err
	}
	return t.compare(ctx)
}

// scanner hashes pieces of a content.
type scanner struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	of      io.ReaderAt
	m       *proto.Manifest
	buffers sync.Pool // of *[]byte

	mu       sync.Mutex // held during calls of progress
	done     int64
	total    int64
	progress func(done, total int64)
}

func newScanner(ctx context.Context, of io.ReaderAt, m *proto.Manifest, opt ScanOptions) *scanner {
	s := &scanner{ctx: ctx, of: of, m: m, total: m.Length(), progress: opt.Progress}
	s.buffers.New = func() any { b := make([]byte, scanBuffer); return &b }
	return s
}

// hash hashes one piece, and into sums too, if it is there.
func (s *scanner) hash(piece int, sums *sha1Sums) ([sha256.Size]byte, error) {
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	if sums == nil {
		return Hash(s, s.m, piece, *buf)
	}
	return sums.hash(s, piece, *buf)
}

// check checks one piece.
func (s *scanner) check(v *Verifier, piece int) (good bool, err error) {
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	return v.check(s, piece, *buf)
}

// ReadAt reads from the content and tells of the progress.
func (s *scanner) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.of.ReadAt(p, offset)
	if n == len(p) {
		s.tell(n)
	}
	return n, noEOF(err)
}

// hashHole asks the content and tells of the progress.
func (s *scanner) hashHole(piece int) (sum pieceSum, ok bool) {
	h, ok := s.of.(holeHasher)
	if !ok {
		return sum, false
	}
	if sum, ok = h.hashHole(piece); ok {
		s.tell(s.m.PieceSize(piece))
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
	s.progress(s.done, s.total)
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
