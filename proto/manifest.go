package proto

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// Manifest describes one content: its tree, and the hash of each of its pieces.
// The files, joined in the order of Entries, are one stream of bytes, which is
// cut into pieces of PieceLength.
//
// Whoever fills a Manifest by hand calls [Manifest.Validate] before the other
// methods. After that, and as long as no field changes, every method may be
// called from several goroutines.
type Manifest struct {
	// Name is the base name of the content, for display and as the default name
	// of the output: one path element of valid UTF-8.
	Name string
	// PieceLength is the size of every piece but the last, in bytes: a power of
	// two from [MinPieceLength] to [MaxPieceLength].
	PieceLength uint32
	// Entries are the files, folders and symbolic links below the content's
	// root, each behind the folder that it is in. Whoever describes what lies on a
	// disk sorts them by Path, bytewise; a torrent's are in the order of the torrent.
	// The content that is a single file has one entry, with an empty Path; the
	// empty folder has none.
	Entries []Entry
	// Hashes is the SHA-256 of each piece, 32 bytes each, joined.
	Hashes []byte
	// SHA1 is the SHA-1 of each piece, 20 bytes each, joined, in the place of Hashes:
	// for a content that is known by its torrent alone. Such a manifest is of use to
	// the node that has it, and has no encoding; it ends with the one that has the
	// SHA-256 of the same pieces.
	SHA1 []byte

	// sized is Length()+1 once Validate has run, 0 before.
	sized int64
}

// Validate reports the first rule that m breaks. It also keeps the length of
// the content, so it must run again when Entries change.
func (m *Manifest) Validate() error {
	if err := checkName(m.Name); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if p := m.PieceLength; p < MinPieceLength || p > MaxPieceLength || bits.OnesCount32(p) != 1 {
		return fmt.Errorf("manifest: piece length %d, want a power of two from %d to %d", p, MinPieceLength, MaxPieceLength)
	}
	if len(m.Entries) > MaxEntries {
		return fmt.Errorf("manifest: %d entries, at most %d", len(m.Entries), MaxEntries)
	}
	if err := checkTree(m.Entries); err != nil {
		return err
	}
	length, err := m.sum()
	if err != nil {
		return err
	}
	if err := m.checkHashes(length); err != nil {
		return err
	}
	// Not written when it is there already, so that validating a shared manifest
	// again is no data race.
	if m.sized != length+1 {
		m.sized = length + 1
	}
	return nil
}

// checkHashes reports why the hashes cannot be those of length bytes.
func (m *Manifest) checkHashes(length int64) error {
	kind, hashes, size := "hashes", m.Hashes, sha256.Size
	if m.TorrentOnly() {
		if len(m.Hashes) > 0 {
			return errors.New("manifest: both SHA-256 and SHA-1 of its pieces, want one of them")
		}
		kind, hashes, size = "SHA-1", m.SHA1, sha1.Size
	}
	if want := pieces(length, m.PieceLength) * size; len(hashes) != want {
		return fmt.Errorf("manifest: %d bytes of %s for %d bytes of content, want %d", len(hashes), kind, length, want)
	}
	return nil
}

// TorrentOnly reports whether m knows its pieces by their SHA-1, and not by SHA-256.
func (m *Manifest) TorrentOnly() bool { return len(m.SHA1) > 0 }

// Length is the size of the content in bytes: the sizes of its files and of the
// padding between them, added up.
func (m *Manifest) Length() int64 {
	if m.sized > 0 {
		return m.sized - 1
	}
	// Nothing is kept here, since a method that only reads must not write.
	var n int64
	for i := range m.Entries {
		n += m.Entries[i].Size
	}
	return n
}

// Pieces is how many pieces the content has, 0 when it is empty.
func (m *Manifest) Pieces() int { return pieces(m.Length(), m.PieceLength) }

// PieceSize is the size of piece i in bytes; that of the last may be less than
// PieceLength. It panics when there is no piece i.
func (m *Manifest) PieceSize(i int) int {
	length := m.Length()
	offset := m.PieceOffset(i)
	if i < 0 || offset >= length {
		panic(fmt.Sprintf("proto: piece %d of %d", i, m.Pieces()))
	}
	return int(min(int64(m.PieceLength), length-offset))
}

// PieceOffset is where piece i begins in the stream of the content, in bytes.
func (m *Manifest) PieceOffset(i int) int64 { return int64(i) * int64(m.PieceLength) }

// Hash is the SHA-256 of piece i. It panics when there is no piece i, and when m
// is [Manifest.TorrentOnly].
func (m *Manifest) Hash(i int) [sha256.Size]byte {
	return [sha256.Size]byte(m.Hashes[i*sha256.Size : (i+1)*sha256.Size])
}

// HashSHA1 is the SHA-1 of piece i. It panics when there is no piece i, and unless
// m is [Manifest.TorrentOnly].
func (m *Manifest) HashSHA1(i int) [sha1.Size]byte {
	return [sha1.Size]byte(m.SHA1[i*sha1.Size : (i+1)*sha1.Size])
}

// SameFiles reports whether other has the same name, and the same files and padding in
// the same order, in pieces of the same length: then its stream of bytes has the same
// parts. Folders, links, modes and times may differ, and all hashes.
func (m *Manifest) SameFiles(other *Manifest) bool {
	if m.Name != other.Name || m.PieceLength != other.PieceLength {
		return false
	}
	a, b := m.Entries, other.Entries
	for {
		a, b = fromStream(a), fromStream(b)
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0].Kind != b[0].Kind || a[0].Path != b[0].Path || a[0].Size != b[0].Size {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// fromStream leaves out the entries up to the first that may have bytes.
func fromStream(entries []Entry) []Entry {
	for len(entries) > 0 && entries[0].Kind != File && entries[0].Kind != Pad {
		entries = entries[1:]
	}
	return entries
}

// DefaultPieceLength is the piece length for a content of length bytes: the
// smallest that gives at most 2000 pieces, from [MinSeedPieceLength] to
// [MaxPieceLength].
func DefaultPieceLength(length int64) uint32 {
	p := int64(MinSeedPieceLength)
	for p < MaxPieceLength && p*2000 < length {
		p *= 2
	}
	return uint32(p)
}

// sum adds the sizes of the files up, which checkTree has found not negative.
func (m *Manifest) sum() (int64, error) {
	limit := int64(MaxPieces) * int64(m.PieceLength)
	var n int64
	for i := range m.Entries {
		if m.Entries[i].Size > limit-n {
			return 0, fmt.Errorf("manifest: content of more than %d bytes, which is %d pieces of %d bytes, the most there may be",
				limit, MaxPieces, m.PieceLength)
		}
		n += m.Entries[i].Size
	}
	return n, nil
}

// pieces is how many pieces of pieceLength bytes cover length bytes.
func pieces(length int64, pieceLength uint32) int {
	if length <= 0 || pieceLength == 0 {
		return 0
	}
	return int((length-1)/int64(pieceLength) + 1)
}

// checkName reports why name cannot name a content: it becomes the name of a file,
// and is shown on terminals.
func checkName(name string) error {
	if name == "." || name == ".." {
		return fmt.Errorf("name %q is not a file name", name)
	}
	if name == "" || len(name) > MaxElement {
		return fmt.Errorf("name of %d bytes, want 1 to %d", len(name), MaxElement)
	}
	if !utf8.ValidString(name) {
		return errors.New("name is not valid UTF-8")
	}
	for _, r := range name {
		if r == '/' || unicode.IsControl(r) {
			return fmt.Errorf("name %q has a slash or a control character", name)
		}
	}
	return nil
}
