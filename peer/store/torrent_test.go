package store_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

// torrentPiece is the piece length of torrents.
const torrentPiece = proto.MinPieceLength

// torrent returns content of 11 pieces of which only the torrent is known. Pieces 1 and
// 2 are zeros in a file, 6 and 7 are padding.
func torrent(t *testing.T) storetest.Content {
	const p = torrentPiece
	c := storetest.MakeTorrent(t, 1, storetest.Untimed(
		storetest.Dir("s"), storetest.File("s/zeros in it", 4*p), storetest.File("b", p+9), storetest.Pad(3*p-9),
		storetest.File("a", 2*p+1), storetest.File("none", 0), storetest.Pad(100), storetest.File("z", 7))...)
	clear(c.Data[p : 3*p])
	c.Hash(t)
	return c
}

func TestTorrentHoles(t *testing.T) {
	huge(t) // skips where there are no holes
	p := newPlace(t, torrent(t))
	d := p.create()
	p.want(d, "-vv---vv---")
	p.recheckAll(d, p.has(d))
	p.put(d, 0, 3, 4, 5, 8, 9, 10)
	p.ok(d.Finish())
	p.Verify(t, p.root)
}

// TestTorrentResume restarts the process and the machine.
func TestTorrentResume(t *testing.T) {
	p := newPlace(t, torrent(t))
	d := p.create()
	p.put(d, 5, 8, 10)
	before := p.has(d)
	p.ok(d.Close())
	d = p.open()
	if after := p.has(d); !slices.Equal(after, before) {
		t.Errorf("pieces are %v, want %v", after, before)
	}
	p.ok(d.Close())
	d = p.got(store.OpenAfterBoot(p.dir, p.root, p.Manifest, p.files, [16]byte{1}))
	if unverified := d.Unverified(); !slices.Equal(unverified, before) {
		t.Errorf("unverified are %v, want %v", unverified, before)
	}
	p.recheck(d)
	if after := p.has(d); !slices.Equal(after, before) {
		t.Errorf("pieces are %v, want %v", after, before)
	}
	p.putMissing(d)
	p.ok(d.Finish())
	p.ok(d.Close())
	d = p.open()
	if _, err := d.WriteAt([]byte{1}, 0); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("write after Finish: %v", err)
	}
	p.want(d, "vvvvvvvvvvv")
	p.Verify(t, p.root)
}

// putMissing writes and commits the missing pieces.
func (p *place) putMissing(d *store.Disk) {
	p.t.Helper()
	for i := range p.Manifest.Pieces() {
		if !d.Has(i) {
			p.put(d, i)
		}
	}
}

// TestTorrentAdopt adopts what another client left: pieces that are not good, and files
// with times of their own, which stay.
func TestTorrentAdopt(t *testing.T) {
	p := newPlace(t, torrent(t))
	p.Write(t, p.root)
	at := time.Unix(0, storetest.MTime)
	p.ok(os.WriteFile(p.path("a"), make([]byte, 2*torrentPiece+1), 0o600))
	p.ok(os.Chtimes(p.path("z"), at, at))
	p.ok(os.Chtimes(p.path("s"), at, at))
	d := p.got(store.Adopt(p.dir, p.root, p.Manifest, p.files))
	p.want(d, "ddddddddddd")
	p.recheck(d)
	p.want(d, "vvvvvvvv---")
	p.put(d, 8, 9, 10)
	p.ok(d.Finish())
	p.Verify(t, p.root)
	if info, err := os.Stat(p.path("s")); err != nil || !info.ModTime().Equal(at) {
		t.Errorf("the directory's time is %v, %v, want the one it had", info.ModTime(), err)
	}
	p.gone(p.path(".pad"))
}

func TestTorrentFileRemoved(t *testing.T) {
	p := newPlace(t, torrent(t))
	d := p.create()
	p.putMissing(d)
	p.ok(d.Finish())
	p.ok(d.Close())
	p.ok(os.Remove(p.path("b")))
	d = p.open()
	p.want(d, "vvvv--vvvvv")
}

// TestTorrentJournal checks that the journal of a torrent is not taken for that of the
// manifest with SHA-256.
func TestTorrentJournal(t *testing.T) {
	p := newPlace(t, torrent(t))
	p.ok(p.create().Close())
	m := *p.Manifest
	m.SHA1, m.Hashes = nil, p.SHA256()
	if _, err := store.Open(p.dir, p.root, &m, p.files); !errors.Is(err, store.ErrWrongContent) {
		t.Error("open with the manifest:", err)
	}
}
