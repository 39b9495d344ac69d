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

// names makes info dictionaries of names: of a content of one piece of 5 bytes.
type names struct{}

func (names) Build(m *proto.Manifest, _ []byte) ([]byte, error) { return []byte(m.Name), nil }

func (names) Check(m *proto.Manifest, info []byte) error {
	if m.Name != string(info) {
		return errors.New("of another content")
	}
	return nil
}

func (names) Manifest(info []byte) (*proto.Manifest, error) {
	m := content(string(info))
	m.SHA1, m.Hashes = make([]byte, sha1.Size), nil
	return m, m.Validate()
}

// content is the manifest of a content.
func content(name string) *proto.Manifest {
	return &proto.Manifest{Name: name, PieceLength: proto.MinPieceLength, Hashes: make([]byte, sha256.Size),
		Entries: []proto.Entry{{Kind: proto.File, Size: 5, MTime: proto.NoMTime}}}
}

func encoded(t *testing.T, name string) ([]byte, cid.Cid) {
	t.Helper()
	b, err := content(name).Encode()
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

// A content with a manifest takes that first, and then the info dictionary of the same.
func TestManifestFirst(t *testing.T) {
	dir := t.TempDir()
	b, id := encoded(t, "a")
	other, _ := encoded(t, "b")
	d := NewDescription(dir, id, hashOf("a"), names{})
	mustFail(t, "the torrent first", d.SetTorrent([]byte("a")), "before the manifest")
	mustFail(t, "another manifest", d.SetManifest(other), "does not match")
	if _, err := d.EncodedManifest(); err == nil || d.Manifest() != nil || d.Torrent() != nil || d.Plain() {
		t.Errorf("before anything came there is %v, %q", d.Manifest(), d.Torrent())
	}
	if err := d.SetManifest(b); err != nil {
		t.Fatal(err)
	}
	mustFail(t, "another dictionary", d.SetTorrent([]byte("b")), "in place of "+hashOf("a").String())
	if err := d.SetTorrent([]byte("a")); err != nil {
		t.Fatal(err)
	}

	again := NewDescription(dir, id, hashOf("a"), names{})
	if err := again.Load(); err != nil {
		t.Fatal(err)
	}
	if got, err := again.EncodedManifest(); !bytes.Equal(got, b) || again.Manifest() == nil || string(again.Torrent()) != "a" {
		t.Errorf("from the disk came %q, %v, %q", got, err, again.Torrent())
	}
	// The same with a link that names the torrent of something else.
	wrong := NewDescription(dir, id, hashOf("b"), names{})
	mustFail(t, "the dictionary on disk is another", wrong.Load(), "in place of")
	mustFail(t, "one of another content", wrong.SetTorrent([]byte("b")), "of another content")
	unoffered := NewDescription(dir, id, proto.InfoHash{}, names{})
	if err := unoffered.Load(); err != nil || unoffered.Torrent() != nil {
		t.Errorf("without an info-hash there is the dictionary %q, %v", unoffered.Torrent(), err)
	}
	if err := unoffered.SetTorrent([]byte("a")); !errors.Is(err, ErrNotOffered) {
		t.Errorf("without an info-hash: %v", err)
	}
}

// A plain torrent has its manifest from the info dictionary, and one for others later.
func TestPlain(t *testing.T) {
	dir, hash := t.TempDir(), hashOf("a")
	d := NewDescription(dir, hash.CID(), hash, names{})
	if err := d.Load(); err != nil || !d.Plain() {
		t.Fatal(err, d.Plain())
	}
	mustFail(t, "another dictionary", d.SetTorrent([]byte("b")), "in place of")
	if err := d.SetTorrent([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if m := d.Manifest(); m == nil || !m.TorrentOnly() {
		t.Fatalf("manifest %v", m)
	}
	if _, err := d.EncodedManifest(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a manifest for others is there: %v", err)
	}
	b, _ := encoded(t, "a")
	if err := d.PublishManifest(b); err != nil {
		t.Fatal(err)
	}
	again := NewDescription(dir, hash.CID(), hash, names{})
	if err := again.Load(); err != nil {
		t.Fatal(err)
	}
	if got, err := again.EncodedManifest(); !bytes.Equal(got, b) || !again.Manifest().TorrentOnly() {
		t.Errorf("from the disk came %q, %v", got, err)
	}
	// What is on disk and of another content is given to nobody.
	other, _ := encoded(t, "b")
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), other, 0o600); err != nil {
		t.Fatal(err)
	}
	again = NewDescription(dir, hash.CID(), hash, names{})
	mustFail(t, "a manifest of other files", again.Load(), "not of the torrent")
	if _, err := again.EncodedManifest(); !errors.Is(err, os.ErrNotExist) || again.Manifest() == nil {
		t.Errorf("it is still there: %v", err)
	}
}

// There is no second info dictionary for one info-hash, so one of no use is the end.
func TestPlainOfNoUse(t *testing.T) {
	d := NewDescription(t.TempDir(), hashOf("..").CID(), hashOf(".."), names{})
	err := d.SetTorrent([]byte(".."))
	var refused *RefusedError
	if !errors.As(err, &refused) || d.Torrent() != nil || d.Manifest() != nil {
		t.Errorf("taken: %q, %v", d.Torrent(), err)
	}
	if err := NewDescription("", hashOf("a").CID(), hashOf("a"), nil).SetTorrent([]byte("a")); !errors.Is(err, ErrNoTorrents) {
		t.Errorf("without torrents: %v", err)
	}
}

// Without a folder nothing is written, not to the working directory either.
func TestKeptInMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	b, id := encoded(t, "a")
	d := NewDescription("", id, hashOf("a"), names{})
	if err := errors.Join(d.Load(), d.SetManifest(b), d.SetTorrent([]byte("a"))); err != nil {
		t.Fatal(err)
	}
	if got, err := d.EncodedManifest(); !bytes.Equal(got, b) {
		t.Errorf("encoded %q, %v", got, err)
	}
	if files, err := os.ReadDir("."); len(files) > 0 || err != nil {
		t.Errorf("written: %v, %v", files, err)
	}
}

func TestMakeTorrent(t *testing.T) {
	b, id := encoded(t, "a")
	hashed := 0
	sums := func(*proto.Manifest) ([]byte, error) { hashed++; return nil, nil }
	for name, tt := range map[string]struct {
		hash    proto.InfoHash
		offered bool
	}{"not offered": {}, "offered": {hashOf("a"), true}} {
		t.Run(name, func(t *testing.T) {
			hashed = 0
			d := NewDescription(t.TempDir(), id, tt.hash, names{})
			if err := d.SetManifest(b); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if info, err := d.MakeTorrent(sums); string(info) != "a" || err != nil {
					t.Errorf("made %q, %v", info, err)
				}
			}
			if hashed != 1 || (d.Torrent() != nil) != tt.offered {
				t.Errorf("hashed %d times, offered %q", hashed, d.Torrent())
			}
		})
	}
}
