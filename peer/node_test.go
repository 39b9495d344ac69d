package peer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/peertest"
	ma "github.com/multiformats/go-multiaddr"
)

// TestInUse starts a second node with the data directory, and with the port, of a running one.
func TestInUse(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	n := peertest.Start(t, "A", peertest.Data(data))
	var inUse *datadir.InUseError
	cfg := peer.Config{Data: data, Cluster: "A", Listen: []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}}
	if _, err := peer.Start(cfg); !errors.As(err, &inUse) {
		t.Errorf("a second node on the directory: %v", err)
	}
	cfg.Data, cfg.Listen = t.TempDir(), n.Host().Addrs()
	if _, err := peer.Start(cfg); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second node on the port: %v", err)
	}
}
