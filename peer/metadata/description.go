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

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/proto"
)

// Torrents makes and checks info dictionaries. Its methods may be called from any
// goroutine.
type Torrents interface {
	// Build returns the info dictionary of a manifest with the concatenated SHA-1 hashes
	// of the pieces. Equal arguments give equal bytes.
	Build(m *proto.Manifest, sums []byte) (info []byte, err error)
	// Check returns an error if info does not describe the files of m.
	Check(m *proto.Manifest, info []byte) error
	// Manifest returns the manifest with SHA-1 of an untrusted info dictionary.
	Manifest(info []byte) (*proto.Manifest, error)
}

var (
	// ErrNoTorrents is returned if there is no [Torrents] to make or check an info
	// dictionary.
	ErrNoTorrents = errors.New("this node cannot make torrents")
	// ErrNotOffered is returned if the content has no info-hash, or if its info
	// dictionary is not known yet.
	ErrNotOffered = errors.New("the content is not offered to BitTorrent clients")
)

// A finalError ends a search: a document has the right hash and is invalid, or was not written to the state directory of
// the transfer.
type finalError struct{ error }

// Unwrap returns the cause.
func (e *finalError) Unwrap() error { return e.error }

func isFinal(err error) bool {
	_, is := errors.AsType[*finalError](err)
	return is
}

// Files in the state directory of a transfer.
const (
	ManifestFile = "manifest"
	TorrentFile  = "torrent"
	PlanFile     = "plan"
)

// A Description contains the manifest, the info dictionary and the plan of the content. Its methods may
// be called from any goroutine. The values they return must not be changed.
type Description struct {
	// Constant.
	dir      string
	id       cid.Cid
	hash     proto.InfoHash
	torrents Torrents

	known chan struct{} // closed once manifest is set

	planID cid.Cid // undefined if there is no plan

	mu        sync.Mutex
	manifest  *proto.Manifest
	plan      *plan.Plan
	documents map[string][]byte // by file: the manifest with SHA-256, the info dictionary, the plan
}

// NewDescription returns an empty description. id is the CID of the manifest, or of the
// info-hash for a plain torrent. hash is zero if the content is not offered to
// BitTorrent clients. Files are kept in dir, or not at all if dir is empty.
func NewDescription(dir string, id cid.Cid, hash proto.InfoHash, torrents Torrents) *Description {
	return &Description{
		dir: dir, id: id, hash: hash, torrents: torrents, known: make(chan struct{}), documents: map[string][]byte{},
	}
}

// NewGrowing returns the description of growing content. Its manifest has no hashes, and is not served.
func NewGrowing(id cid.Cid, m *proto.Manifest) *Description {
	d := NewDescription("", id, proto.InfoHash{}, nil)
	d.setManifest(m)
	return d
}

// Plain reports whether the content is a plain torrent, which has only an info-hash.
func (d *Description) Plain() bool { return !d.hash.IsZero() && d.id.Equals(d.hash.CID()) }

// Load reads the files in the state directory. It returns an error if one of them is
// invalid, and ignores that file.
func (d *Description) Load() error {
	var err error
	if !d.Plain() {
		err = d.load(ManifestFile, d.SetManifest)
	}
	if !d.hash.IsZero() {
		err = errors.Join(err, d.load(TorrentFile, d.SetTorrent))
	}
	if d.Plain() {
		err = errors.Join(err, d.load(ManifestFile, d.loadPublished))
	}
	if d.planID.Defined() {
		err = errors.Join(err, d.load(PlanFile, d.SetPlan))
	}
	return err
}

func (d *Description) load(name string, set func([]byte) error) error {
	b, err := d.read(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = set(b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// loadPublished loads the manifest with SHA-256 of a plain torrent that was also seeded. It removes the file if its files
// differ from the torrent's.
func (d *Description) loadPublished(b []byte) error {
	m, err := proto.DecodeManifest(b)
	if of := d.Manifest(); err == nil && (of == nil || !of.SameFiles(m)) {
		err = errors.New("manifest does not match the torrent")
	}
	if err != nil {
		return errors.Join(err, os.Remove(filepath.Join(d.dir, ManifestFile)))
	}
	d.keep(ManifestFile, b)
	return nil
}

func (d *Description) read(name string) ([]byte, error) {
	if d.dir == "" {
		return nil, os.ErrNotExist
	}
	return os.ReadFile(filepath.Join(d.dir, name))
}

// write writes a file unless it has the same content already.
func (d *Description) write(name string, b []byte) error {
	if d.dir == "" {
		return nil
	}
	if old, err := d.read(name); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := datadir.WriteFile(filepath.Join(d.dir, name), b, 0o600); err != nil {
		return &finalError{err}
	}
	return nil
}

// Manifest returns the manifest that pieces are verified with, nil if it is not known yet.
func (d *Description) Manifest() *proto.Manifest {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.manifest
}

// Known returns a channel that is closed once the manifest is known.
func (d *Description) Known() <-chan struct{} { return d.known }

// Torrent returns the info dictionary, nil if it is not known yet.
func (d *Description) Torrent() []byte {
	b, _ := d.document(TorrentFile)
	return b
}

// EncodedManifest returns the encoded manifest with SHA-256. It fails with
// [os.ErrNotExist] if that is not known yet.
func (d *Description) EncodedManifest() ([]byte, error) { return d.document(ManifestFile) }

// EncodedPlan returns the encoded plan. It fails with [os.ErrNotExist] if that is not known yet.
func (d *Description) EncodedPlan() ([]byte, error) { return d.document(PlanFile) }

func (d *Description) document(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.documents[name]; b != nil {
		return b, nil
	}
	return nil, os.ErrNotExist
}

func (d *Description) keep(name string, b []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.documents[name] = b
}

// SetManifest checks an encoded manifest against the content id and keeps it. If writing
// the file fails, the manifest is set nevertheless, and the error is a finalError.
func (d *Description) SetManifest(b []byte) error {
	m, err := proto.DecodeVerified(d.id, b)
	if err != nil {
		return err
	}
	err = d.write(ManifestFile, b)
	d.keep(ManifestFile, b)
	d.setManifest(m)
	return err
}

// SetTorrent checks an info dictionary against the info-hash and the manifest and keeps
// it. For a plain torrent it makes the manifest, and fails with a finalError if it
// cannot. If writing the file fails, the info dictionary is set nevertheless.
func (d *Description) SetTorrent(info []byte) error {
	if d.hash.IsZero() {
		return ErrNotOffered
	}
	if d.torrents == nil {
		return ErrNoTorrents
	}
	if sha1.Sum(info) != d.hash {
		return errors.New("info dictionary does not have the link's info-hash")
	}
	if d.Torrent() != nil {
		return nil
	}
	m, err := d.torrentManifest(info)
	if err != nil {
		return err
	}
	err = d.write(TorrentFile, info)
	d.keep(TorrentFile, info)
	d.setManifest(m)
	return err
}

// torrentManifest returns the manifest that an info dictionary matches. It makes the
// manifest of a plain torrent.
func (d *Description) torrentManifest(info []byte) (*proto.Manifest, error) {
	if d.Plain() {
		m, err := d.torrents.Manifest(info)
		if err != nil {
			return nil, &finalError{err}
		}
		return m, nil
	}
	m := d.Manifest()
	if m == nil {
		return nil, errors.New("info dictionary before the manifest")
	}
	return m, d.torrents.Check(m, info)
}

// setManifest is called after the files are written, so that they exist when Known is closed.
func (d *Description) setManifest(m *proto.Manifest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.manifest == nil {
		d.manifest = m
		close(d.known)
	}
}
