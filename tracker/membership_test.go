package tracker

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/proto"
)

// proven is a stream of a member that has proved a certificate.
type proven struct {
	network.Stream
	certificate *membership.Certificate
}

func (p proven) Certificate() *membership.Certificate { return p.certificate }

// TestAnnounceOfMember checks that the tracker of a network uses what certificates say.
func TestAnnounceOfMember(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		cluster string // in the announce; the certificate is for geneva
		roles   membership.Roles
		have    uint32 // of 10
		known   bool   // the swarm has a member that may seed
		want    string
	}{
		{"its cluster", "geneva", membership.DefaultRoles, 10, false, ""},
		{"another cluster", "lyon", membership.DefaultRoles, 10, false,
			"the node announces cluster lyon, but its certificate is for geneva"},
		{"fetches first", "geneva", membership.Get, 9, false, ""},
		{"fetched", "geneva", membership.Get, 10, true, ""},
		{"seeds without the role", "geneva", membership.Get, 10, false, "does not have the role seed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, info := start(t, Default(nil), new(clock))
			if tt.known {
				h, source := node(t, ClientConfig{}, info)
				if _, err := source.Announce(t.Context(), announce(h, "lyon", 10)); err != nil {
					t.Fatal(err)
				}
			}
			cert := &membership.Certificate{Cluster: "geneva", Roles: tt.roles}
			s.host.SetStreamHandler(proto.TrackerProtocol, func(st network.Stream) { s.serve(proven{st, cert}) })
			h, c := node(t, ClientConfig{}, info)
			_, err := c.Announce(t.Context(), announce(h, tt.cluster, tt.have))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
