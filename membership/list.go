package membership

import (
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
)

// A List is a signed list of revoked members of a network. It is immutable. The list with the
// higher serial is newer.
type List struct {
	Network ID
	Serial  uint64
	Peers   []peer.ID // ascending

	envelope []byte
}

// maxRevoked bounds the members of a list.
const maxRevoked = 8192

const listType = "/mob/revoked/1"

type listRecord struct {
	_      struct{} `cbor:",toarray"`
	Serial uint64
	Peers  [][]byte
}

// Envelope returns the signed form.
func (l *List) Envelope() []byte { return l.envelope }

// Has reports whether the list names a node.
func (l *List) Has(id peer.ID) bool {
	_, found := slices.BinarySearch(l.Peers, id)
	return found
}

// openList checks the signature of a list and decodes it.
func openList(b []byte) (*List, error) {
	var r listRecord
	network, err := open(b, listType, &r)
	if err != nil {
		return nil, fmt.Errorf("invalid list of revoked members: %w", err)
	}
	if r.Serial == 0 || len(r.Peers) > maxRevoked {
		return nil, errors.New("invalid list of revoked members")
	}
	l := &List{Network: network, Serial: r.Serial, Peers: make([]peer.ID, len(r.Peers)), envelope: b}
	for i, p := range r.Peers {
		if l.Peers[i], err = peer.IDFromBytes(p); err != nil || i > 0 && l.Peers[i] <= l.Peers[i-1] {
			return nil, errors.New("invalid list of revoked members: bad peer ids")
		}
	}
	return l, nil
}
