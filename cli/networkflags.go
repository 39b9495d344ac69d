package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/transport"
)

// networkFlags are the flags about the network of which a node or a tracker is a member.
type networkFlags struct {
	network     string
	certificate string
	revoked     string
}

func (n *networkFlags) add(f *pflag.FlagSet) {
	f.StringVar(&n.network, "network", "",
		"file with the secret of the network to take part in, or its id with --certificate; none by default: open to everybody")
	f.StringVar(&n.certificate, "certificate", "", "file with the certificate of this node, which mob network sign prints")
	f.StringVar(&n.revoked, "revoked", "", "file with a list of revoked members, which mob network revoke prints")
}

// config checks the flags. It returns nil without a network.
func (n *networkFlags) config() (*membership.Config, error) {
	if n.network == "" {
		if n.certificate != "" || n.revoked != "" {
			return nil, errors.New("--certificate and --revoked are for a network: give --network as well")
		}
		return nil, nil
	}
	cfg := new(membership.Config)
	var err error
	switch {
	case !membership.IsID(n.network):
		if n.certificate != "" {
			return nil, errors.New("with the secret of the network a node signs its own certificate: " +
				"give --network the id, or leave --certificate out")
		}
		if cfg.Secret, err = membership.ReadSecret(n.network); err != nil {
			return nil, err
		}
		cfg.Network = cfg.Secret.ID()
	case n.certificate == "":
		return nil, errors.New("--certificate is missing: give one, or give --network the file with the secret")
	default:
		if cfg.Network, err = membership.ParseID(n.network); err != nil {
			return nil, fmt.Errorf("--network: %w", err)
		}
		if cfg.Grant, err = membership.ReadGrant(n.certificate); err != nil {
			return nil, err
		}
	}
	if n.revoked != "" {
		cfg.Lists, err = membership.ReadLists(n.revoked)
	}
	return cfg, err
}

// reload takes the certificate and the list of the flags for a running member, nil without a
// network. It says what changed.
func (n *networkFlags) reload(m *membership.Member) (changed string, err error) {
	cfg, err := n.config()
	switch {
	case err != nil:
		return "", err
	case (cfg == nil) != (m == nil) || m != nil && (cfg.Network != m.Network() || (cfg.Secret != nil) != m.Signs()):
		return "", errors.New("restart to take part in another network, or in another way")
	case m == nil:
		return "", nil
	}
	if cfg.Grant != nil {
		if newer, err := m.SetGrant(cfg.Grant); err != nil {
			return "", err
		} else if newer {
			changed = "certificate until " + term.Date(cfg.Grant.Certificate.To)
		}
	}
	for _, l := range cfg.Lists {
		if newer, err := m.Adopt(l); err != nil {
			return changed, err
		} else if newer {
			changed = term.Plural(len(m.Lists().Peers()), "member") + " revoked"
		}
	}
	return changed, nil
}

// cluster returns the cluster of the certificate, empty if there is none.
func (n *networkFlags) cluster() (string, error) {
	cfg, err := n.config()
	if err != nil || cfg == nil || cfg.Grant == nil {
		return "", err
	}
	return cfg.Grant.Certificate.Cluster, nil
}

// checkRoles fails if the certificate of a configuration is for something else.
func checkRoles(cfg *membership.Config, roles membership.Roles) error {
	if cfg == nil || cfg.Grant == nil || cfg.Grant.Certificate.Roles.Has(roles) {
		return nil
	}
	return fmt.Errorf("the certificate has the roles %s: one with --role %s is needed", cfg.Grant.Certificate.Roles, roles)
}

// reloadNetwork has SIGHUP read the certificate and the list of revoked members again.
func reloadNetwork(node *peer.Node) func(*nodeFlags) (string, error) {
	return func(n *nodeFlags) (string, error) { return n.network.reload(node.Membership()) }
}

// logNetwork logs who may take part.
func logNetwork(log *slog.Logger, m *membership.Member) {
	if m == nil {
		log.Info("open to everybody who has a link: --network closes it")
		return
	}
	c := m.Grant().Certificate
	log.Info("member of a network", "network", m.Network().String(), "roles", c.Roles.String(),
		"until", c.To, "renews", m.Signs())
}

// trackerCluster is the cluster in the certificate of a tracker that signs its own: it is in none.
const trackerCluster = "tracker"

// trackerMembership makes a tracker with its folder a member of a network, nil for none.
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

// hangup reads certificate and list again for a tracker.
func (n *networkFlags) hangup(log *slog.Logger, m *membership.Member) {
	switch changed, err := n.reload(m); {
	case err != nil:
		log.Error("network not read again: the old values stay", "error", err)
	case changed != "":
		log.Info("network read again", "now", changed)
	}
}
