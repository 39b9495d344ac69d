package membership

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// An ID is the public key of a network.
type ID [32]byte

// The text of an ID is a prefix, and in base 32 the key and the first bytes of its hash,
// which catch typing errors.
const (
	idPrefix    = "net-"
	idCheckSize = 3
)

var errID = errors.New("invalid network id: must be the line that `mob network new` prints")

func idEncoding() *base32.Encoding {
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
}

// String returns the text form.
func (id ID) String() string {
	sum := sha256.Sum256(id[:])
	return idPrefix + idEncoding().EncodeToString(append(id[:], sum[:idCheckSize]...))
}

// IsID reports whether a text looks like the id of a network, not like a path.
func IsID(text string) bool {
	return strings.HasPrefix(text, idPrefix) && !strings.ContainsAny(text, "./")
}

// ParseID parses the text form of an ID.
func ParseID(text string) (id ID, err error) {
	rest, ok := strings.CutPrefix(text, idPrefix)
	b, err := idEncoding().DecodeString(rest)
	if !ok || err != nil || len(b) != len(id)+idCheckSize {
		return ID{}, errID
	}
	copy(id[:], b)
	if id.String() != text {
		return ID{}, errID
	}
	return id, nil
}

func idOf(key crypto.PubKey) (id ID, err error) {
	raw, err := key.Raw()
	if err != nil || key.Type() != crypto.Ed25519 || len(raw) != len(id) {
		return ID{}, errors.New("not signed with an Ed25519 key")
	}
	return ID(raw), nil
}
