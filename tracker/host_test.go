package tracker

import (
	"crypto/rand"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer/transport"
)

// newHost makes a host, with a new key unless one is given.
func newHost(listen []multiaddr.Multiaddr, key crypto.PrivKey) (host.Host, error) {
	if key == nil {
		var err error
		if key, _, err = crypto.GenerateEd25519Key(rand.Reader); err != nil {
			return nil, err
		}
	}
	return transport.NewHost(key, listen, nil, nil)
}
