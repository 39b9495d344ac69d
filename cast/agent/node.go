package agent

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/cast/launch"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/tracker"
)

// finder returns a client of trackers for a node.
func finder(h libhost.Host, addrs []ma.Multiaddr) peer.Finder {
	infos, _ := libpeer.AddrInfosFromP2pAddrs(addrs...) // the caster made them
	return tracker.NewClient(h, infos, tracker.ClientConfig{})
}

// session is the number of bytes that a session is worth, see [mob.Tuning]: a fast network transfers them in the time that both
// ends need to open one.
const session = 256 << 10

// NodeConfig returns the configuration of a node of a cast with a data directory. content is false for a stream.
func NodeConfig(dir, cluster string, network *membership.Config, content bool) peer.Config {
	cfg := peer.Config{Data: dir, Cluster: cluster, Listen: listenAddrs(), Network: network, Tuning: mob.DefaultTuning()}
	if content {
		cfg.Tuning.Session = session
	}
	return cfg
}

// startNode starts the node of an agent.
func (a *agent) startNode(s *Start) (err error) {
	key, err := crypto.UnmarshalPrivateKey(s.Key)
	if err != nil {
		return err
	}
	id, err := membership.ParseID(s.Network)
	if err != nil {
		return err
	}
	grant, err := membership.ParseGrant([]byte(s.Grant))
	if err != nil {
		return err
	}
	dir := filepath.Join(a.server.Dir, "node")
	if err := datadir.Create(dir); err != nil {
		return err
	}
	if err := datadir.SaveKey(dir, key); err != nil {
		return err
	}
	cfg := NodeConfig(dir, s.Cluster, &membership.Config{Network: id, Grant: grant}, s.Stream == nil)
	cfg.Finder = finder
	a.node, err = peer.Start(cfg)
	return err
}

// casterWait bounds the wait for a connection with the caster. The fetch tries again.
const casterWait = 2 * time.Second

// meetCaster waits until the node is connected to the caster or ctx ends. Either may dial the other, as one may be behind a NAT.
// Later requests would wait for an unanswered dial.
func (a *agent) meetCaster(ctx context.Context, caster libpeer.AddrInfo) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := a.node.Host()
	met := &network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		if c.RemotePeer() == caster.ID {
			cancel()
		}
	}}
	h.Network().Notify(met)
	defer h.Network().StopNotify(met)
	if h.Connect(ctx, caster) != nil {
		<-ctx.Done()
	}
}

// listenAddrs returns the multiaddrs at which a node of a cast listens: a free TCP port of each address in [launch.Addrs].
func listenAddrs() (all []ma.Multiaddr) {
	for _, a := range launch.Addrs() {
		if m, err := manet.FromNetAddr(net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0))); err == nil {
			all = append(all, m)
		}
	}
	return all
}

// Info returns the id and the addresses of a node.
func Info(n *peer.Node) libpeer.AddrInfo {
	infos, _ := libpeer.AddrInfosFromP2pAddrs(n.Addrs()...) // they are of one peer
	return infos[0]
}
