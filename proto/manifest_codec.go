package proto

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
)

// manifestVersion is the first element of an encoded manifest.
const manifestVersion = 1

// manifestDecMode is decMode with longer arrays.
//
//nolint:gochecknoglobals // an immutable mode, built once
var manifestDecMode = newDecMode(MaxEntries)

type wireManifest struct {
	_           struct{} `cbor:",toarray"`
	Version     uint64
	Name        string
	PieceLength uint32
	Entries     wireEntries
	Hashes      []byte
}

// entryEncMode and entryDecMode encode strings as byte strings, because CBOR text must be UTF-8 and file names need not be.
//
//nolint:gochecknoglobals // immutable modes, built once
var (
	entryEncMode = must(func() (cbor.EncMode, error) {
		o := encMode.EncOptions()
		o.String = cbor.StringToByteString
		return o.EncMode()
	}())
	entryDecMode = must(func() (cbor.DecMode, error) {
		o := manifestDecMode.DecOptions()
		o.ByteStringToString = cbor.ByteStringToStringAllowed
		return o.DecMode()
	}())
)

// minEntry is the size in bytes of the shortest encoded entry.
const minEntry = 7

// wireEntries is decoded only if its bytes can hold as many entries as it claims, since an
// entry takes far more memory than its first byte.
type wireEntries []Entry

// MarshalCBOR implements [cbor.Marshaler].
func (w wireEntries) MarshalCBOR() ([]byte, error) { return entryEncMode.Marshal([]Entry(w)) }

// UnmarshalCBOR implements [cbor.Unmarshaler]. b is well-formed.
func (w *wireEntries) UnmarshalCBOR(b []byte) error {
	head, length := uint64(b[0]&0x1f), b[1:]
	if head >= 24 {
		head, length = 0, length[:1<<(head-24)]
		for _, c := range length {
			head = head<<8 | uint64(c)
		}
	}
	if head > uint64(len(b)/minEntry) {
		return fmt.Errorf("%d entries in %d bytes", head, len(b))
	}
	return entryDecMode.Unmarshal(b, (*[]Entry)(w))
}

// Encode validates m and returns its only encoding, whose hash is the content id. It fails
// on more than [MaxManifest] bytes, and if m is [Manifest.TorrentOnly].
func (m *Manifest) Encode() ([]byte, error) {
	if m.TorrentOnly() {
		return nil, errors.New("manifest without SHA-256 of its pieces cannot be encoded")
	}
	return m.encode(m.Hashes)
}

// Digest returns the SHA-256 of the encoding of m. If m is [Manifest.TorrentOnly], it is
// the SHA-256 of the same form with the SHA-1 of the pieces: it identifies m on this machine and
// is never sent.
func (m *Manifest) Digest() ([sha256.Size]byte, error) {
	if m.complete != nil {
		return m.complete.Digest()
	}
	hashes := m.Hashes
	if m.TorrentOnly() {
		hashes = m.SHA1
	}
	b, err := m.encode(hashes)
	return sha256.Sum256(b), err
}

func (m *Manifest) encode(hashes []byte) ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	w := wireManifest{
		Version: manifestVersion, Name: m.Name, PieceLength: m.PieceLength, Entries: m.Entries, Hashes: hashes,
	}
	if m.Root != nil {
		w.Entries = slices.Insert(slices.Clone(w.Entries), 0, *m.Root)
	}
	b, err := encMode.Marshal(&w)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if len(b) > MaxManifest {
		return nil, fmt.Errorf("manifest of %d bytes, at most %d: pack small files into one", len(b), MaxManifest)
	}
	return b, nil
}

// DecodeManifest decodes and validates a manifest. It does not keep b, and accepts only the
// encoding of [Manifest.Encode]. Callers that have a content id use [DecodeVerified].
func DecodeManifest(b []byte) (*Manifest, error) {
	if len(b) == 0 || len(b) > MaxManifest {
		return nil, fmt.Errorf("manifest of %d bytes, want 1 to %d", len(b), MaxManifest)
	}
	var w wireManifest
	if err := manifestDecMode.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if w.Version != manifestVersion {
		return nil, fmt.Errorf("manifest of version %d, only %d is known", w.Version, manifestVersion)
	}
	if checkCBOR(b, &w) != nil {
		return nil, errors.New("manifest is not in its canonical form")
	}
	m := &Manifest{Name: w.Name, PieceLength: w.PieceLength, Entries: w.Entries, Hashes: w.Hashes}
	if e := m.Entries; len(e) > 0 && e[0].Path == "" && e[0].Kind == Dir {
		m.Root, m.Entries = &e[0], e[1:]
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// DecodeVerified checks b against the content id c and decodes the manifest in it. b may
// come from an untrusted peer.
func DecodeVerified(c cid.Cid, b []byte) (*Manifest, error) {
	if err := checkManifestCID(c); err != nil {
		return nil, err
	}
	if !ManifestCID(b).Equals(c) {
		return nil, errors.New("manifest does not match its content id")
	}
	return DecodeManifest(b)
}

// ManifestCID returns the content id of the encoded manifest b: CIDv1, codec dag-cbor, hash
// SHA-256.
func ManifestCID(b []byte) cid.Cid {
	sum := sha256.Sum256(b)
	return cid.NewCidV1(cid.DagCBOR, must(multihash.Encode(sum[:], multihash.SHA2_256)))
}

// checkManifestCID reports why c cannot be the content id of a manifest, or of a plan.
func checkManifestCID(c cid.Cid) error {
	want := cid.Prefix{Version: 1, Codec: cid.DagCBOR, MhType: multihash.SHA2_256, MhLength: sha256.Size}
	if !c.Defined() || c.Prefix() != want {
		return fmt.Errorf("content id %q has another form: want CIDv1, dag-cbor, sha2-256", c)
	}
	return nil
}
