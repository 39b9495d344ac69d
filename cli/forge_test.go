package cli

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

// forge announces nodes that do not exist, and says that they have everything.
func forge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: forge N LINKFILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	link, err := proto.ParseLink(strings.TrimSpace(ts.ReadFile(args[1])))
	ts.Check(err)
	trackers, err := libpeer.AddrInfosFromP2pAddrs(link.Trackers...)
	ts.Check(err)
	for range n {
		key, _, err := crypto.GenerateEd25519Key(rand.Reader)
		ts.Check(err)
		h, err := transport.NewHost(key, nil, nil, nil)
		ts.Check(err)
		ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
		c := tracker.NewClient(h, trackers, tracker.ClientConfig{Timeout: scriptTimeout})
		_, err = c.Announce(ctx, &proto.Announce{Swarm: link.Keys()[0].Bytes(), Cluster: "Z", Have: 1, Total: 1})
		ts.Check(err)
		cancel()
		c.Close()
		h.Close()
	}
}
