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

// btihPrefix begins the xt of a link that has an info-hash in it.
const btihPrefix = "urn:btih:"

// torrentInfo is the code of BitTorrent's info dictionaries in the table of
// multicodecs.
const torrentInfo = 0x7b

// InfoHash is what a content is called among BitTorrent v1 clients: the SHA-1 of
// its info dictionary. The zero value stands for none.
type InfoHash [20]byte

// IsZero reports whether there is none.
func (h InfoHash) IsZero() bool { return h == InfoHash{} }

// String is the info-hash as 40 hexadecimal digits.
func (h InfoHash) String() string { return hex.EncodeToString(h[:]) }

// CID is the content id by which a swarm is found that is known by its info-hash
// alone: CIDv1, codec torrent-info, hash SHA-1. That of none means nothing.
func (h InfoHash) CID() cid.Cid {
	return cid.NewCidV1(torrentInfo, must(multihash.Encode(h[:], multihash.SHA1)))
}

// ParseInfoHash reads an info-hash of 40 hexadecimal digits or 32 of base32, as
// there are both in magnet URIs. One of zeros is none, and an error.
func ParseInfoHash(text string) (InfoHash, error) {
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

// CheckAnnounce reports why text is no address of a BitTorrent tracker.
func CheckAnnounce(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "udp" {
		return fmt.Errorf("%q is no address of a BitTorrent tracker, such as http://192.0.2.7:6969/announce", text)
	}
	return nil
}
