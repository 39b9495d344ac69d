package cast

import (
	"errors"
	"os"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cast/agent"
	"github.com/mobgrid/mob/membership"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/tracker"
)

// node is the node and the tracker of the caster, in a temporary directory. It creates a network for the cast, and admits the
// agents.
type node struct {
	*peer.Node
	dir     string // empty if close shall not remove it
	parent  string // the topmost directory that was created for it, or empty
	secret  *membership.Secret
	tracker *tracker.Server
}

// startNode starts the node of a cast in a new directory.
func startNode(cfg *Config) (*node, error) {
	dir, err := os.MkdirTemp(cfg.Data, "mob-cast-")
	if err != nil {
		return nil, err
	}
	n, err := startNodeIn(dir, cfg)
	if err != nil {
		return n, errors.Join(err, n.close())
	}
	n.SetTrackers(n.Addrs())
	return n, nil
}

// startNodeIn starts the node in a directory, which stays after an error. It has no trackers: hosts of a gather are not announced.
func startNodeIn(dir string, cfg *Config) (n *node, err error) {
	n = &node{dir: dir}
	cluster := ownCluster(cfg)
	if n.secret, err = membership.NewSecret(); err != nil {
		return n, err
	}
	key, err := datadir.LoadKey(n.dir)
	if err != nil {
		return n, err
	}
	grant, err := n.sign(key, cluster, membership.DefaultRoles|membership.Track)
	if err != nil {
		return n, err
	}
	own := agent.NodeConfig(n.dir, cluster, &membership.Config{Network: n.secret.ID(), Grant: grant}, !cfg.streams())
	own.Finder = func(libhost.Host, []ma.Multiaddr) peer.Finder { return n.tracker.Local() }
	own.Umask, own.Log = cfg.Umask, cfg.Log
	if n.Node, err = peer.Start(own); err != nil {
		return n, err
	}
	n.tracker = tracker.New(n.Host(), cfg.Log)
	return n, nil
}

// sign creates the certificate of a key. Clocks of hosts may be wrong, so the certificate is always valid; the network ends with the
// cast.
func (n *node) sign(key crypto.PrivKey, cluster string, roles membership.Roles) (*membership.Grant, error) {
	id, err := libpeer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return n.secret.Sign(membership.Certificate{
		Peer:    id,
		Cluster: cluster,
		Roles:   roles,
		From:    time.Unix(0, 0),
		To:      time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	})
}

// close closes the node and removes its directory.
func (n *node) close() (err error) {
	if n.Node != nil {
		_ = n.Node.Close() // its state is removed
	}
	if n.tracker != nil {
		err = n.tracker.Close()
	}
	if n.dir != "" {
		err = errors.Join(err, os.RemoveAll(n.dir))
		agent.RemoveEmpty(n.dir, n.parent)
	}
	return err
}
