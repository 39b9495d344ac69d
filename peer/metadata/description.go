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

// ErrNoTorrents is returned if there is no [Torrents] to make or check an info dictionary.
var ErrNoTorrents = errors.New("this node cannot make torrents")

// errNotNamed is returned for an info dictionary or a plan of a link that names none.
var errNotNamed = errors.New("the link names no such document")

// A finalError ends a search: a document has the right hash and is invalid, or was not written to the state directory of
// the transfer.
type finalError struct{ error }

// Unwrap returns the cause.
func (e *finalError) Unwrap() error { return e.error }

func isFinal(err error) bool {
	_, is := errors.AsType[*finalError](err)
	return is
}

// Documents, by the names of their files in the state directory of a transfer.
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
	planID   cid.Cid // undefined if there is no plan
	torrents Torrents

	known chan struct{} // closed once manifest is set

	mu        sync.Mutex
	manifest  *proto.Manifest
	plan      *plan.Plan
	documents map[string][]byte // by file: the manifest with SHA-256, the info dictionary, the plan
}

// NewDescription returns an empty description of what a link names. id is the CID of the manifest, or of the
// info-hash for a plain torrent. Files are kept in dir, or not at all if dir is empty.
func NewDescription(dir string, id cid.Cid, link *proto.Link, torrents Torrents) *Description {
	return &Description{
		dir: dir, id: id, hash: link.InfoHash, planID: link.Plan, torrents: torrents,
		known: make(chan struct{}), documents: map[string][]byte{},
	}
}

// NewGrowing returns the description of growing content. Its manifest has no hashes, and is not served.
func NewGrowing(id cid.Cid, m *proto.Manifest) *Description {
	d := NewDescription("", id, &proto.Link{}, nil)
	d.manifest = m
	close(d.known)
	return d
}

// Plain reports whether the content is a plain torrent, which has only an info-hash.
func (d *Description) Plain() bool { return !d.hash.IsZero() && d.id.Equals(d.hash.CID()) }

// Load reads the files in the state directory. It returns an error if one of them is
// invalid, and ignores that file.
func (d *Description) Load() error {
	files := []string{ManifestFile, TorrentFile, PlanFile}
	if d.Plain() {
		files = []string{TorrentFile, ManifestFile, PlanFile}
	}
	var errs []error
	for _, file := range files {
		b, err := d.read(file)
		if err == nil {
			err = d.Set(file, b)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errNotNamed) {
			errs = append(errs, fmt.Errorf("%s: %w", file, err))
		}
	}
	return errors.Join(errs...)
}

func (d *Description) read(file string) ([]byte, error) {
	if d.dir == "" {
		return nil, os.ErrNotExist
	}
	return os.ReadFile(filepath.Join(d.dir, file))
}

// write writes a file unless it has the same content already.
func (d *Description) write(file string, b []byte) error {
	if d.dir == "" {
		return nil
	}
	if old, err := d.read(file); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := datadir.WriteFile(filepath.Join(d.dir, file), b, 0o600); err != nil {
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

// Plan returns the plan, nil if there is none or it is not known yet.
func (d *Description) Plan() *plan.Plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.plan
}

// EncodedManifest returns the encoded manifest with SHA-256, nil if it is not known yet.
func (d *Description) EncodedManifest() []byte { return d.Document(ManifestFile) }

// Torrent returns the info dictionary, nil if it is not known yet.
func (d *Description) Torrent() []byte { return d.Document(TorrentFile) }

// Document returns a document by the name of its file, nil if it is not known yet.
func (d *Description) Document(file string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.documents[file]
}

// Set checks a document against its id and the other documents, and keeps it. It fails with a finalError if the document
// has the right id and is invalid. If writing its file fails, the document is kept nevertheless, and the error is a finalError.
func (d *Description) Set(file string, b []byte) (err error) {
	var m *proto.Manifest
	var p *plan.Plan
	switch file {
	case ManifestFile:
		m, err = d.checkManifest(b)
	case TorrentFile:
		m, err = d.checkTorrent(b)
	case PlanFile:
		p, err = d.checkPlan(b)
	}
	if err != nil {
		return err
	}
	err = d.write(file, b) // before Known is closed
	d.mu.Lock()
	defer d.mu.Unlock()
	d.documents[file] = b
	if p != nil {
		d.plan = p
	}
	if m != nil && d.manifest == nil {
		d.manifest = m
		close(d.known)
	}
	return err
}

// checkManifest checks an encoded manifest. A plain torrent has one, of the same files, if it was seeded here too.
func (d *Description) checkManifest(b []byte) (*proto.Manifest, error) {
	if !d.Plain() {
		return proto.DecodeVerified(d.id, b)
	}
	m, err := proto.DecodeManifest(b)
	if of := d.Manifest(); err == nil && (of == nil || !of.SameFiles(m)) {
		err = errors.New("manifest does not match the torrent")
	}
	return m, err
}

// checkTorrent checks an info dictionary. It returns the manifest that it matches, which it makes for a plain torrent.
func (d *Description) checkTorrent(info []byte) (*proto.Manifest, error) {
	switch {
	case d.hash.IsZero():
		return nil, errNotNamed
	case d.torrents == nil:
		return nil, ErrNoTorrents
	case sha1.Sum(info) != d.hash:
		return nil, errors.New("info dictionary does not have the link's info-hash")
	case d.Plain():
		m, err := d.torrents.Manifest(info)
		if err != nil {
			err = &finalError{err}
		}
		return m, err
	}
	m := d.Manifest()
	if m == nil {
		return nil, errors.New("info dictionary before the manifest")
	}
	return m, d.torrents.Check(m, info)
}

func (d *Description) checkPlan(b []byte) (*plan.Plan, error) {
	if !d.planID.Defined() {
		return nil, errNotNamed
	}
	document, err := proto.DecodePlan(d.planID, b)
	if err != nil {
		return nil, err
	}
	p, err := plan.Read(document)
	if err != nil {
		err = &finalError{err}
	}
	return p, err
}
