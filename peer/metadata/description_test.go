package metadata

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"

	"github.com/mobgrid/mob/proto"
)

// fakeTorrents implements [Torrents] for content of one piece and 5 bytes. The info
// dictionary is the name of the content.
type fakeTorrents struct{}

func (fakeTorrents) Build(m *proto.Manifest, _ []byte) ([]byte, error) { return []byte(m.Name), nil }

func (fakeTorrents) Check(m *proto.Manifest, info []byte) error {
	if m.Name != string(info) {
		return errors.New("other content")
	}
	return nil
}

func (fakeTorrents) Manifest(info []byte) (*proto.Manifest, error) {
	m := newManifest(string(info))
	m.SHA1, m.Hashes = make([]byte, sha1.Size), nil
	return m, m.Validate()
}

// newManifest returns the manifest of the content.
func newManifest(name string) *proto.Manifest {
	return &proto.Manifest{
		Name:        name,
		PieceLength: proto.MinPieceLength,
		Hashes:      make([]byte, sha256.Size),
		Entries:     []proto.Entry{{Kind: proto.File, Size: 5, MTime: proto.NoMTime}},
	}
}

func encoded(t *testing.T, name string) ([]byte, cid.Cid) {
	t.Helper()
	b, err := newManifest(name).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b, proto.ManifestCID(b)
}

func hashOf(info string) proto.InfoHash { return sha1.Sum([]byte(info)) }

func mustFail(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", what, err, want)
	}
}

// The info dictionary of content with a manifest must match the manifest.
func TestDescription(t *testing.T) {
	dir := t.TempDir()
	b, id := encoded(t, "a")
	other, _ := encoded(t, "b")
	d := NewDescription(dir, id, &proto.Link{InfoHash: hashOf("a")}, fakeTorrents{})
	mustFail(t, "torrent before manifest", d.Set(TorrentFile, []byte("a")), "before the manifest")
	mustFail(t, "another manifest", d.Set(ManifestFile, other), "does not match")
	if d.EncodedManifest() != nil || d.Manifest() != nil || d.Torrent() != nil || d.Plain() {
		t.Errorf("initially: manifest %v, torrent %q", d.Manifest(), d.Torrent())
	}
	if err := d.Set(ManifestFile, b); err != nil {
		t.Fatal(err)
	}
	mustFail(t, "another torrent", d.Set(TorrentFile, []byte("b")), "the link's info-hash")
	if err := d.Set(TorrentFile, []byte("a")); err != nil {
		t.Fatal(err)
	}

	again := NewDescription(dir, id, &proto.Link{InfoHash: hashOf("a")}, fakeTorrents{})
	if err := again.Load(); err != nil {
		t.Fatal(err)
	}
	got := again.EncodedManifest()
	if !bytes.Equal(got, b) || again.Manifest() == nil || string(again.Torrent()) != "a" {
		t.Errorf("loaded manifest %q, torrent %q", got, again.Torrent())
	}
	// A link with the info-hash of other content.
	wrong := NewDescription(dir, id, &proto.Link{InfoHash: hashOf("b")}, fakeTorrents{})
	mustFail(t, "another torrent on disk", wrong.Load(), "the link's info-hash")
	mustFail(t, "torrent of other content", wrong.Set(TorrentFile, []byte("b")), "other content")
	unoffered := NewDescription(dir, id, &proto.Link{}, fakeTorrents{})
	if err := unoffered.Load(); err != nil || unoffered.Torrent() != nil {
		t.Errorf("without an info-hash: torrent %q, %v", unoffered.Torrent(), err)
	}
	if err := unoffered.Set(TorrentFile, []byte("a")); !errors.Is(err, errNotNamed) {
		t.Errorf("without an info-hash: %v", err)
	}
}

// The manifest of a plain torrent is made of its info dictionary. One with SHA-256 is on disk if the content was seeded again.
func TestPlainTorrent(t *testing.T) {
	dir, hash := t.TempDir(), hashOf("a")
	d := NewDescription(dir, hash.CID(), &proto.Link{InfoHash: hash}, fakeTorrents{})
	if err := d.Load(); err != nil || !d.Plain() {
		t.Fatal(err, d.Plain())
	}
	mustFail(t, "another torrent", d.Set(TorrentFile, []byte("b")), "the link's info-hash")
	if err := d.Set(TorrentFile, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if m := d.Manifest(); m == nil || !m.TorrentOnly() {
		t.Fatalf("manifest %v", m)
	}
	if b := d.EncodedManifest(); b != nil {
		t.Errorf("EncodedManifest of a torrent: %q", b)
	}
	b, _ := encoded(t, "a")
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	again := NewDescription(dir, hash.CID(), &proto.Link{InfoHash: hash}, fakeTorrents{})
	if err := again.Load(); err != nil {
		t.Fatal(err)
	}
	if got := again.EncodedManifest(); !bytes.Equal(got, b) || !again.Manifest().TorrentOnly() {
		t.Errorf("loaded manifest %q", got)
	}
	// The manifest of other content on disk is not served.
	other, _ := encoded(t, "b")
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), other, 0o600); err != nil {
		t.Fatal(err)
	}
	again = NewDescription(dir, hash.CID(), &proto.Link{InfoHash: hash}, fakeTorrents{})
	mustFail(t, "manifest of other files", again.Load(), "does not match the torrent")
	if got := again.EncodedManifest(); got != nil || again.Manifest() == nil {
		t.Errorf("EncodedManifest: %q", got)
	}
}

func TestInvalidPlainTorrent(t *testing.T) {
	d := NewDescription(t.TempDir(), hashOf("..").CID(), &proto.Link{InfoHash: hashOf("..")}, fakeTorrents{})
	err := d.Set(TorrentFile, []byte(".."))
	if !isFinal(err) || d.Torrent() != nil || d.Manifest() != nil {
		t.Errorf("SetTorrent: %v, torrent %q", err, d.Torrent())
	}
	d = NewDescription("", hashOf("a").CID(), &proto.Link{InfoHash: hashOf("a")}, nil)
	if err := d.Set(TorrentFile, []byte("a")); !errors.Is(err, ErrNoTorrents) {
		t.Errorf("SetTorrent without Torrents: %v", err)
	}
}

// Without a directory nothing is written, and nothing in the working directory is read.
func TestDescriptionInMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	b, id := encoded(t, "a")
	d := NewDescription("", id, &proto.Link{InfoHash: hashOf("a")}, fakeTorrents{})
	if err := errors.Join(d.Load(), d.Set(ManifestFile, b), d.Set(TorrentFile, []byte("a"))); err != nil {
		t.Fatal(err)
	}
	if got := d.EncodedManifest(); !bytes.Equal(got, b) {
		t.Errorf("EncodedManifest: %q", got)
	}
	if files, err := os.ReadDir("."); len(files) > 0 || err != nil {
		t.Errorf("files %v, %v", files, err)
	}
}
