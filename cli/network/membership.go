package network

import (
	"log/slog"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/transport"
)

// trackerCluster is the cluster in the certificate of a tracker that signs its own: it is in none.
const trackerCluster = "tracker"

// trackerMembership makes a tracker with its directory a member of a network, nil for none.
func trackerMembership(
	cfg *membership.Config, key crypto.PrivKey, dir string, log *slog.Logger,
) (*transport.Membership, error) {
	if cfg == nil {
		return nil, nil
	}
	var err error
	if cfg.Self, err = libpeer.IDFromPrivateKey(key); err != nil {
		return nil, err
	}
	if cfg.Grant == nil {
		cfg.Cluster = trackerCluster
	}
	cfg.ListFile, cfg.WriteFile = filepath.Join(dir, peer.RevokedFile), datadir.WriteFile
	m, err := membership.New(*cfg)
	if err != nil {
		return nil, err
	}
	return &transport.Membership{Member: m, Log: log}, nil
}

// reloadMembership reads the certificate and the list of a tracker again.
func reloadMembership(n *daemon.NetworkFlags, log *slog.Logger, m *membership.Member) {
	switch changed, err := n.Reload(m); {
	case err != nil:
		log.Error("network not read again: the old values stay", "error", err)
	case changed != "":
		log.Info("network read again", "now", changed)
	}
}
