package network

import (
	"cmp"
	"log/slog"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/mobgrid/mob/cli/daemon"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
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
	if cfg.Grant == nil {
		cfg.Cluster = trackerCluster
	}
	return peer.NewMembership(*cfg, key, dir, log)
}

// reloadMembership reads the certificate and the list of a tracker again.
func reloadMembership(n *daemon.NetworkFlags, log *slog.Logger, m *membership.Member) {
	switch changed, err := n.Reload(m, membership.Track); {
	case err != nil:
		log.Error("network not read again: the old values stay", "error", err)
	case m != nil:
		log.Info("network read again", "now", cmp.Or(changed, "as before"))
	}
}
