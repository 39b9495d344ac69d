package metadata

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
)

// Torrents makes and checks info dictionaries, by which BitTorrent clients know
// contents. Its methods may be called from any goroutine.
type Torrents interface {
	// Build makes that of a content whose pieces have these SHA-1, joined: always the
	// same bytes for the same arguments.
	Build(m *proto.Manifest, sums []byte) (info []byte, err error)
	// Check reports why info is not of the content of m, as far as can be seen
	// without its bytes.
	Check(m *proto.Manifest, info []byte) error
	// Manifest makes the manifest with SHA-1 of an info dictionary, after checking it as
	// one from a stranger.
	Manifest(info []byte) (*proto.Manifest, error)
}

var (
	// ErrNoTorrents answers what needs [Torrents] where there are none.
	ErrNoTorrents = errors.New("this node cannot make torrents")
	// ErrNotOffered answers questions for an info dictionary that is not there.
	ErrNotOffered = errors.New("the content is not offered to BitTorrent clients")
)

// RefusedError is why a plain torrent cannot be taken. There is no other info
// dictionary with its info-hash, so it is of no use to ask further.
type RefusedError struct{ err error }

// Error implements error.
func (e *RefusedError) Error() string { return e.err.Error() }

// The files in the folder of a transfer.
const (
	ManifestFile = "manifest"
	TorrentFile  = "torrent"
)

// Description is what is known of one content. Its methods may be called from any
// goroutine. What they return must not be changed.
type Description struct {
	// Constant.
	dir      string
	id       cid.Cid
	hash     proto.InfoHash
	torrents Torrents

	known chan struct{} // closed when manifest is there

	mu       sync.Mutex // guards what follows
	manifest *proto.Manifest
	info     []byte
}

// NewDescription describes the content of id, which is that of its manifest or its info-hash's,
// and of which nothing else is known yet. hash is zero for a content that is not
// offered to BitTorrent clients. What comes is kept in dir, or not on disk if that is
// empty.
func NewDescription(dir string, id cid.Cid, hash proto.InfoHash, torrents Torrents) *Description {
	return &Description{dir: dir, id: id, hash: hash, torrents: torrents, known: make(chan struct{})}
}

// Plain says that the content is known by its info-hash alone: it is a plain torrent.
func (d *Description) Plain() bool { return !d.hash.IsZero() && d.id.Equals(d.hash.CID()) }

// Load takes up what is on disk. Its error is of what is there and of no use; that is
// as good as not there.
func (d *Description) Load() error {
	if d.dir == "" {
		return nil
	}
	var err error
	if !d.Plain() {
		err = d.load(ManifestFile, d.SetManifest)
	}
	if !d.hash.IsZero() {
		err = errors.Join(err, d.load(TorrentFile, d.SetTorrent))
	}
	if d.Plain() {
		err = errors.Join(err, d.load(ManifestFile, d.keepPublished))
	}
	return err
}

func (d *Description) load(name string, take func([]byte) error) error {
	b, err := os.ReadFile(d.path(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = take(b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// keepPublished takes a manifest away that is not of the torrent.
func (d *Description) keepPublished(b []byte) error {
	m, err := proto.DecodeManifest(b)
	if of := d.Manifest(); err == nil && (of == nil || !of.SameFiles(m)) {
		err = errors.New("not of the torrent")
	}
	if err != nil {
		return errors.Join(err, os.Remove(d.path(ManifestFile)))
	}
	return nil
}

func (d *Description) path(name string) string { return filepath.Join(d.dir, name) }

// keep writes a file, unless that is there.
func (d *Description) keep(name string, b []byte) error {
	if d.dir == "" {
		return nil
	}
	if old, err := os.ReadFile(d.path(name)); err == nil && bytes.Equal(old, b) {
		return nil
	}
	return datadir.WriteFile(d.path(name), b, 0o600)
}

// Manifest is the one by which pieces are verified, nil while it is not there.
func (d *Description) Manifest() *proto.Manifest {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.manifest
}

// Known is closed when the manifest is there.
func (d *Description) Known() <-chan struct{} { return d.known }

// Torrent is the info dictionary, nil while it is not there.
func (d *Description) Torrent() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.info
}

// EncodedManifest is the manifest with SHA-256, for others. It fails while there is none.
func (d *Description) EncodedManifest() ([]byte, error) {
	if d.dir != "" {
		return os.ReadFile(d.path(ManifestFile))
	}
	if m := d.Manifest(); m != nil {
		return m.Encode()
	}
	return nil, os.ErrNotExist
}

// SetManifest takes the manifest of the content's id, encoded.
func (d *Description) SetManifest(b []byte) error {
	m, err := proto.DecodeVerified(d.id, b)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.found(m, ManifestFile, b)
}

// SetTorrent takes the info dictionary of the content's info-hash. Beside a manifest
// it must be of the same content; otherwise the manifest is made of it.
func (d *Description) SetTorrent(info []byte) error {
	if d.hash.IsZero() {
		return ErrNotOffered
	}
	if d.torrents == nil {
		return ErrNoTorrents
	}
	if got := proto.InfoHash(sha1.Sum(info)); got != d.hash {
		return fmt.Errorf("an info dictionary with the info-hash %s in place of %s", got, d.hash)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.info != nil {
		return nil
	}
	m := d.manifest
	var err error
	switch {
	case d.Plain():
		if m, err = d.torrents.Manifest(info); err != nil {
			return &RefusedError{err}
		}
	case m == nil:
		err = errors.New("an info dictionary before the manifest")
	default:
		err = d.torrents.Check(m, info)
	}
	if err != nil {
		return err
	}
	d.info = info
	return d.found(m, TorrentFile, info)
}

// found keeps what a manifest is of on disk, and then makes it known: who waits for Known
// can read the file. The caller holds mu.
func (d *Description) found(m *proto.Manifest, name string, b []byte) error {
	err := d.keep(name, b)
	if d.manifest == nil {
		close(d.known)
	}
	d.manifest = m
	return err
}

// PublishManifest keeps the manifest with SHA-256 of a plain torrent, encoded, for others.
func (d *Description) PublishManifest(b []byte) error { return d.keep(ManifestFile, b) }

// MakeTorrent returns the info dictionary, or makes it of the SHA-1 of the pieces,
// joined, that sums returns. That does not offer the content to BitTorrent clients.
func (d *Description) MakeTorrent(sums func(*proto.Manifest) ([]byte, error)) ([]byte, error) {
	if info := d.Torrent(); info != nil {
		return info, nil
	}
	if d.torrents == nil {
		return nil, ErrNoTorrents
	}
	m := d.Manifest()
	if info, err := os.ReadFile(d.path(TorrentFile)); err == nil && m != nil && d.hash.IsZero() && d.torrents.Check(m, info) == nil {
		return info, nil
	}
	s, err := sums(m)
	if err != nil {
		return nil, err
	}
	info, err := d.torrents.Build(m, s)
	if err != nil {
		return nil, err
	}
	if !d.hash.IsZero() {
		return info, d.SetTorrent(info)
	}
	return info, d.keep(TorrentFile, info)
}
