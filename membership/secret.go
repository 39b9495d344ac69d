package membership

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// A Secret is the secret key of a network. It signs the grants of members.
type Secret struct {
	id   ID
	seed []byte
	key  crypto.PrivKey
}

// NewSecret generates the secret of a new network.
func NewSecret() (*Secret, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return nil, err
	}
	return secretOf(seed)
}

func secretOf(seed []byte) (*Secret, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, errors.New("the secret is damaged")
	}
	key, err := crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		return nil, err
	}
	id, err := idOf(key.GetPublic())
	return &Secret{id: id, seed: seed, key: key}, err
}

// ID returns the network.
func (s *Secret) ID() ID { return s.id }

// Sign returns a grant with a certificate's Peer, Cluster, Roles, From and To.
func (s *Secret) Sign(c Certificate) (*Grant, error) {
	from, to := uint64(c.From.Unix()), uint64(c.To.Unix())
	if c.From.Unix() < 0 || c.To.Before(c.From) || to > maxTime {
		return nil, errors.New("a certificate must not end before it starts")
	}
	if err := proto.CheckCluster(c.Cluster); err != nil {
		return nil, err
	}
	pass, err := seal(s.key, passType, &passRecord{Peer: []byte(c.Peer), From: from, To: to})
	if err != nil {
		return nil, err
	}
	full, err := seal(s.key, certificateType, &certificateRecord{
		Peer: []byte(c.Peer), Cluster: c.Cluster, Roles: uint64(c.Roles), From: from, To: to,
	})
	if err != nil {
		return nil, err
	}
	return openGrant(pass, full)
}

func openGrant(pass, full []byte) (*Grant, error) {
	p, err := openPass(pass)
	if err != nil {
		return nil, err
	}
	c, err := openCertificate(full)
	if err != nil {
		return nil, err
	}
	if p.Network != c.Network || p.Peer != c.Peer {
		return nil, errors.New("pass and certificate do not belong together")
	}
	return &Grant{p, c}, nil
}

// Revoke returns a list of the members of old, if it is not nil, and of ids.
func (s *Secret) Revoke(old *List, now time.Time, ids ...peer.ID) (*List, error) {
	// With the time as serial a list is newer even if the one before was lost. In microseconds, two lists
	// by two copies of the secret have different serials.
	serial := uint64(max(now.UnixMicro(), 1))
	if old != nil {
		if old.Network != s.id {
			return nil, errors.New("the list of revoked members is of another network")
		}
		serial = max(serial, old.Serial+1)
		ids = append(slices.Clone(old.Peers), ids...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > maxRevoked {
		return nil, fmt.Errorf("%d revoked members, at most %d: make a new network", len(ids), maxRevoked)
	}
	r := listRecord{Serial: serial, Peers: make([][]byte, len(ids))}
	for i, id := range ids {
		r.Peers[i] = []byte(id)
	}
	b, err := seal(s.key, listType, &r)
	if err != nil {
		return nil, err
	}
	if len(b) > proto.MaxRevoked {
		return nil, fmt.Errorf("a list of %d bytes, at most %d: make a new network", len(b), proto.MaxRevoked)
	}
	return openList(b)
}
