package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/proto"
)

// seedMemory is the default of [SeedOptions.Memory].
const seedMemory = 64 << 20

var errTorrentPipe = errors.New("content of a pipe cannot be offered to BitTorrent clients: write it to a file, and seed that")

// SeedReader reads r to its end into memory, or past opt.Memory into a file without a name in the data directory. Then
// it serves that as a single file of that name, until the transfer is removed or the node closes: nothing of it is recorded.
// It blocks until the content is served, r fails, or ctx ends and r returns. If the node has the content already, and it
// is complete, SeedReader returns that transfer. It excludes opt.Torrent.
func (n *Node) SeedReader(ctx context.Context, name string, r io.Reader, opt SeedOptions) (*Transfer, error) {
	if opt.Torrent {
		return nil, errTorrentPipe
	}
	planned, err := opt.check(n)
	if err != nil {
		return nil, err
	}
	f, err := n.spool(ctx, r, &opt)
	if err != nil {
		return nil, err
	}
	t, err := n.seedFile(ctx, name, f, planned, &opt)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := t.Wait(ctx); err != nil {
		return nil, errors.Join(err, n.Release(t))
	}
	return t, nil
}

// SeedBytes is [Node.SeedReader] of bytes in memory.
func (n *Node) SeedBytes(name string, b []byte, opt SeedOptions) (*Transfer, error) {
	opt.Memory = max(opt.Memory, int64(len(b)))
	return n.SeedReader(n.ctx, name, bytes.NewReader(b), opt)
}

// spool copies r to a file without a name.
func (n *Node) spool(ctx context.Context, r io.Reader, opt *SeedOptions) (*os.File, error) {
	var read int64
	in := readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		k, err := r.Read(p)
		read += int64(k)
		if opt.Progress != nil {
			opt.Progress(read, 0)
		}
		return k, err
	})
	f, err := datadir.InMemory(n.cfg.Data)
	if err != nil {
		return nil, err
	}
	_, err = io.CopyN(f, in, cmp.Or(opt.Memory, seedMemory)+1)
	if err == io.EOF {
		return f, nil
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	defer f.Close()
	disk, err := datadir.Unnamed(n.cfg.Data)
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(disk, io.MultiReader(io.NewSectionReader(f, 0, read), in)); err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	return disk, nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// seedFile hashes and serves an open file. After an error, the caller closes it.
func (n *Node) seedFile(ctx context.Context, name string, f *os.File, planned []byte, opt *SeedOptions) (*Transfer, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := store.ScanReader(ctx, name, io.NewSectionReader(f, 0, info.Size()), opt.scanOptions())
	if err != nil {
		return nil, err
	}
	a, err := opt.addition(n, m, nil, planned)
	if err != nil {
		return nil, err
	}
	known := false
	a.open = func(*proto.Manifest) (store.Store, error) { return store.SeedSingle(m, f), nil }
	a.join = func(t *Transfer) error {
		if known = t.state().phase == Whole && t.For(nil); !known {
			return errKnown(t, nil)
		}
		return nil
	}
	t, err := n.add(a)
	if err == nil && known {
		err = f.Close()
	}
	return t, err
}
