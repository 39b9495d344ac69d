package control

import (
	"time"

	"github.com/mobgrid/mob/membership"
)

// Network is the daemon's part in its network.
type Network struct {
	ID    string    `json:"id"`
	Roles []string  `json:"roles"`
	Until time.Time `json:"until"`
	// Renews reports that the daemon has the secret, and renews its certificate.
	Renews bool `json:"renews"`
	// Revoked counts the members that were revoked.
	Revoked int `json:"revoked"`
	// Problem describes why other members reject the daemon, empty if they do not.
	Problem string `json:"problem,omitempty"`
}

func newNetwork(m *membership.Member) *Network {
	if m == nil {
		return nil
	}
	c := m.Grant().Certificate
	n := &Network{ID: m.Network().String(), Roles: c.Roles.Names(), Until: c.To, Renews: m.Signs(),
		Revoked: len(m.Lists().Peers())}
	if err := m.Problem(); err != nil {
		n.Problem = err.Error()
	} else if why := m.Rejection(); why != "" {
		n.Problem = "a member rejects this node: " + why
	}
	return n
}
