package peer

import (
	"fmt"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer/datadir"
)

// revokedFile is the file in a data directory with the lists of revoked members.
const revokedFile = "revoked"

// NewMembership makes the node or tracker with a key a member of a network. It keeps the lists of revoked
// members in its data directory.
func NewMembership(cfg membership.Config, key crypto.PrivKey, dir string) (_ *membership.Member, err error) {
	if cfg.Self, err = libpeer.IDFromPrivateKey(key); err != nil {
		return nil, err
	}
	cfg.ListFile, cfg.WriteFile = filepath.Join(dir, revokedFile), datadir.WriteFile
	return membership.New(cfg)
}

// join makes the node a member of its network, if it has one.
func (n *Node) join(key crypto.PrivKey) (err error) {
	if n.cfg.Network != nil {
		cfg := *n.cfg.Network
		cfg.Cluster, cfg.Log = n.cfg.Cluster, n.log
		n.member, err = NewMembership(cfg, key, n.cfg.Data)
	}
	return err
}

// Membership returns the node's part in its network, nil if it has none.
func (n *Node) Membership() *membership.Member { return n.member }

// maySeed fails for a seed if the node may not seed in its network.
func (n *Node) maySeed(seed bool) error {
	if n.member == nil || !seed {
		return nil
	}
	if roles := n.member.Grant().Certificate.Roles; !roles.Has(membership.Seed) {
		return fmt.Errorf("this node may not seed: its certificate has the roles %s, without seed", roles)
	}
	return nil
}
