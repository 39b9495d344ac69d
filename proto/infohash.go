package proto

import (
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
)

// btihPrefix is the prefix of the xt parameter that has the info-hash.
const btihPrefix = "urn:btih:"

// torrentInfo is the multicodec code of BitTorrent info dictionaries.
const torrentInfo = 0x7b

// InfoHash is a BitTorrent v1 info-hash, the SHA-1 of an info dictionary. The zero value means
// none.
type InfoHash [20]byte

// IsZero reports whether there is no info-hash.
func (h InfoHash) IsZero() bool { return h == InfoHash{} }

// String returns the info-hash as 40 hexadecimal digits.
func (h InfoHash) String() string { return hex.EncodeToString(h[:]) }

// CID returns the key of a swarm that is known by its info-hash: CIDv1, codec torrent-info,
// hash SHA-1.
func (h InfoHash) CID() cid.Cid {
	return cid.NewCidV1(torrentInfo, must(multihash.Encode(h[:], multihash.SHA1)))
}

// parseInfoHash parses an info-hash of 40 hexadecimal digits or 32 of base32; magnet URIs
// have either. An info-hash of zeros is an error.
func parseInfoHash(text string) (InfoHash, error) {
	var b []byte
	var err error
	switch len(text) {
	case 40:
		b, err = hex.DecodeString(text)
	case 32:
		b, err = base32.StdEncoding.DecodeString(strings.ToUpper(text))
	}
	if err != nil || len(b) != len(InfoHash{}) || InfoHash(b).IsZero() {
		return InfoHash{}, fmt.Errorf("info-hash %q is neither 40 hexadecimal digits nor 32 of base32", text)
	}
	return InfoHash(b), nil
}

// CheckAnnounce reports why text is not the announce URL of a BitTorrent tracker.
func CheckAnnounce(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "udp" {
		return fmt.Errorf("%q is not the URL of a BitTorrent tracker, such as http://192.0.2.7:6969/announce", text)
	}
	return nil
}
