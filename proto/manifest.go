package proto

import (
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Manifest describes the content: its tree, and the hash of each piece. The files, joined in
// the order of Entries, are one stream of bytes, which is cut into pieces of PieceLength.
//
// A caller that fills a Manifest itself must call [Manifest.Validate] before the other
// methods. After that, and as long as no field changes, all methods are safe for concurrent
// use.
type Manifest struct {
	// Name is the base name of the content, which is displayed and is the default name
	// of the output: one path element of valid UTF-8.
	Name string
	// PieceLength is the size of every piece but the last, in bytes: a power of
	// two from [MinPieceLength] to [MaxPieceLength].
	PieceLength uint32
	// Entries are the files, directories and symbolic links below the content's root, each
	// after its directory. They are sorted by Path, bytewise, or in the order of a
	// torrent. A single file is one entry with an empty Path. An empty directory has
	// no entries.
	Entries []Entry
	// Root is the content's directory itself, with its mode, or nil if that is not known. It has
	// no Path and is not among Entries.
	Root *Entry
	// Hashes is the concatenation of the SHA-256 of all pieces.
	Hashes []byte
	// SHA1 is the concatenation of the SHA-1 of all pieces, instead of Hashes, if only
	// the torrent is known. Such a manifest is local to a node
	// and has no encoding.
	SHA1 []byte

	// sized is Length()+1 once Validate has run, 0 before.
	sized int64
	// complete is nil, or the manifest of which this is a part, see [Manifest.Partial].
	complete *Manifest
}

// Validate reports the first rule that m breaks. It also caches the length of the content,
// so it must run again when Entries change.
func (m *Manifest) Validate() error {
	if err := CheckName(m.Name); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if p := m.PieceLength; p < MinPieceLength || p > MaxPieceLength || bits.OnesCount32(p) != 1 {
		return fmt.Errorf("manifest: piece length %d, want a power of two from %d to %d", p, MinPieceLength, MaxPieceLength)
	}
	if len(m.Entries) > MaxEntries {
		return fmt.Errorf("manifest: %d entries, at most %d", len(m.Entries), MaxEntries)
	}
	if err := cmp.Or(m.checkRoot(), checkTree(m.Entries)); err != nil {
		return err
	}
	length, err := m.sum()
	if err != nil {
		return err
	}
	if err := m.checkHashes(length); err != nil {
		return err
	}
	// Validating a shared manifest again must not be a data race.
	if m.sized != length+1 {
		m.sized = length + 1
	}
	return nil
}

func (m *Manifest) checkRoot() error {
	switch r := m.Root; {
	case r == nil:
		return nil
	case r.Kind != Dir || r.Path != "" || len(m.Entries) == 1 && m.Entries[0].Path == "":
		return errors.New("manifest: the entry of the root must be a directory, and the only entry without a path")
	case len(m.Entries) == MaxEntries:
		return fmt.Errorf("manifest: %d entries and the root, at most %d", len(m.Entries), MaxEntries)
	default:
		return r.check()
	}
}

// SpecialBits returns the number of files with setuid, setgid or sticky bits, and directories with setuid.
func (m *Manifest) SpecialBits() (n int) {
	for i := range m.Entries {
		if m.Entries[i].drops() {
			n++
		}
	}
	if m.Root != nil && m.Root.drops() {
		n++
	}
	return n
}

func (m *Manifest) checkHashes(length int64) error {
	kind, hashes, size := "hashes", m.Hashes, sha256.Size
	if m.TorrentOnly() {
		if len(m.Hashes) > 0 {
			return errors.New("manifest has both SHA-256 and SHA-1 of its pieces, want one of them")
		}
		kind, hashes, size = "SHA-1", m.SHA1, sha1.Size
	}
	if want := pieces(length, m.PieceLength) * size; len(hashes) != want {
		return fmt.Errorf("manifest: %d bytes of %s for %d bytes of content, want %d", len(hashes), kind, length, want)
	}
	return nil
}

// TorrentOnly reports whether m has the SHA-1 of its pieces instead of the SHA-256.
func (m *Manifest) TorrentOnly() bool { return len(m.SHA1) > 0 }

// Length returns the size of the content in bytes, with the padding between its files.
func (m *Manifest) Length() int64 {
	if m.sized > 0 {
		return m.sized - 1
	}
	var n int64
	for i := range m.Entries {
		n += m.Entries[i].Size
	}
	return n
}

// Pieces returns the number of pieces, 0 for an empty content.
func (m *Manifest) Pieces() int { return pieces(m.Length(), m.PieceLength) }

// PieceSize returns the size of piece i in bytes, which is less than PieceLength only for
// the last piece. It panics if there is no piece i.
func (m *Manifest) PieceSize(i int) int {
	length := m.Length()
	offset := m.PieceOffset(i)
	if i < 0 || offset >= length {
		panic(fmt.Sprintf("proto: piece %d of %d", i, m.Pieces()))
	}
	return int(min(int64(m.PieceLength), length-offset))
}

// PieceOffset returns the offset in bytes of piece i in the stream of the content.
func (m *Manifest) PieceOffset(i int) int64 { return int64(i) * int64(m.PieceLength) }

// Hash returns the SHA-256 of piece i. It panics if there is no piece i or m is
// [Manifest.TorrentOnly].
func (m *Manifest) Hash(i int) [sha256.Size]byte {
	return [sha256.Size]byte(m.Hashes[i*sha256.Size : (i+1)*sha256.Size])
}

// HashSHA1 returns the SHA-1 of piece i. It panics if there is no piece i or m is not
// [Manifest.TorrentOnly].
func (m *Manifest) HashSHA1(i int) [sha1.Size]byte {
	return [sha1.Size]byte(m.SHA1[i*sha1.Size : (i+1)*sha1.Size])
}

// SameFiles reports whether m and other have the same name, piece length, and files and
// padding in the same order, so that their streams of bytes have the same layout. Directories,
// links, modes, times and hashes may differ.
func (m *Manifest) SameFiles(other *Manifest) bool {
	if m.Name != other.Name || m.PieceLength != other.PieceLength {
		return false
	}
	a, b := m.Entries, other.Entries
	for {
		a, b = skipEmpty(a), skipEmpty(b)
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0].Kind != b[0].Kind || a[0].Path != b[0].Path || a[0].Size != b[0].Size {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// skipEmpty returns entries from the first that may have bytes.
func skipEmpty(entries []Entry) []Entry {
	for len(entries) > 0 && entries[0].Kind != File && entries[0].Kind != Pad {
		entries = entries[1:]
	}
	return entries
}

// DefaultPieceLength returns the piece length for length bytes: the least one
// with at most 2000 pieces, from [MinPieceLength] to [MaxPieceLength].
func DefaultPieceLength(length int64) uint32 {
	p := int64(MinPieceLength)
	for p < MaxPieceLength && p*2000 < length {
		p *= 2
	}
	return uint32(p)
}

// sum returns the sum of all sizes, which checkTree has found not to be negative.
func (m *Manifest) sum() (int64, error) {
	limit := int64(MaxPieces) * int64(m.PieceLength)
	var n int64
	for i := range m.Entries {
		if m.Entries[i].Size > limit-n {
			return 0, fmt.Errorf("manifest: content of more than %d bytes, the limit of %d pieces of %d bytes",
				limit, MaxPieces, m.PieceLength)
		}
		n += m.Entries[i].Size
	}
	return n, nil
}

func pieces(length int64, pieceLength uint32) int {
	if length <= 0 || pieceLength == 0 {
		return 0
	}
	return int((length-1)/int64(pieceLength) + 1)
}

// CheckName reports why name cannot be the content's name, which becomes the name of a file
// and is shown on terminals.
func CheckName(name string) error {
	if name == "." || name == ".." {
		return fmt.Errorf("name %q is not a file name", name)
	}
	if name == "" || len(name) > MaxElement {
		return fmt.Errorf("name of %d bytes, want 1 to %d", len(name), MaxElement)
	}
	if !utf8.ValidString(name) {
		return errors.New("name is not valid UTF-8")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r == '/' || unicode.IsControl(r) }) {
		return fmt.Errorf("name %q has a slash or a control character", name)
	}
	return nil
}
