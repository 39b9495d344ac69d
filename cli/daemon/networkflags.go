package daemon

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/term"
	"github.com/mobgrid/mob/membership"
)

// NetworkFlags are the flags for the network of a node or a tracker.
type NetworkFlags struct {
	network     string
	certificate string
	revoked     string
}

// Add adds the flags.
func (n *NetworkFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&n.network, "network", "",
		"file with the secret of the network, or the id of the network with --certificate; none by default: open to anyone")
	f.StringVar(&n.certificate, "certificate", "", "file with the certificate of this node, which mob network sign prints")
	f.StringVar(&n.revoked, "revoked", "", "file with a list of revoked members, which mob network revoke prints")
}

// Config checks the flags of a program that needs a certificate with one of roles. It returns nil without a network.
func (n *NetworkFlags) Config(roles membership.Roles) (*membership.Config, error) {
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
		if cfg.Secret, err = membership.ReadSecret(n.network); err == nil {
			cfg.Network = cfg.Secret.ID()
		}
	case n.certificate == "":
		return nil, errors.New("--certificate is missing: give one, or give --network the file with the secret")
	default:
		if cfg.Network, err = membership.ParseID(n.network); err != nil {
			return nil, fmt.Errorf("--network: %w", err)
		}
		if cfg.Grant, err = membership.ReadGrant(n.certificate); err == nil {
			err = CheckRoles(cfg.Grant, roles)
		}
	}
	if err == nil && n.revoked != "" {
		cfg.Lists, err = membership.ReadLists(n.revoked)
	}
	return cfg, err
}

// Reload takes the certificate and the lists of the flags for a running member, nil without a network. changed is text.
func (n *NetworkFlags) Reload(m *membership.Member, roles membership.Roles) (changed string, err error) {
	cfg, err := n.Config(roles)
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

// CheckRoles fails if a certificate has none of roles.
func CheckRoles(g *membership.Grant, roles membership.Roles) error {
	if g.Certificate.Roles.Has(roles) {
		return nil
	}
	return fmt.Errorf("the certificate has the roles %s: one with --role %s is needed", g.Certificate.Roles, roles)
}

// LogNetwork logs the network of a node.
func LogNetwork(log *slog.Logger, m *membership.Member) {
	if m == nil {
		log.Info("open to anyone with a link: --network restricts it")
		return
	}
	c := m.Grant().Certificate
	log.Info("member of a network", "network", m.Network().String(), "roles", c.Roles.String(),
		"until", c.To, "renews", m.Signs())
}
