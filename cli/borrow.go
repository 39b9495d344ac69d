package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	libhost "github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// askingHost makes a host that asks and is never asked.
func askingHost() (libhost.Host, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, err
	}
	return transport.NewHost(key, nil, nil)
}

// dialOrBorrow finds the daemon of the data folder. When there is none, a link can
// still be looked into, by a node in a folder for the time of the command: one in
// the data folder would take up the transfers there.
func (g *global) dialOrBorrow(ctx context.Context, c content) (*session, error) {
	s, err := g.dial(ctx)
	var none *control.NoDaemonError
	if !errors.As(err, &none) || c.link == nil {
		return s, err
	}
	dir, err := os.MkdirTemp("", "mob-")
	if err != nil {
		return nil, err
	}
	s = &session{folder: dir}
	s.own, err = startDaemon(nodeConfig{cluster: "default", data: dir, log: slog.New(slog.DiscardHandler),
		listen: []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/0")}})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if s.Client, err = control.Dial(ctx, dir); err != nil {
		return nil, errors.Join(err, s.own.close(), os.RemoveAll(dir))
	}
	return s, nil
}

// readManifest reads the file of a manifest.
func readManifest(path string) (*proto.Manifest, cid.Cid, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, cid.Undef, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > proto.MaxManifest {
		return nil, cid.Undef, fmt.Errorf("%s is no manifest", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, cid.Undef, err
	}
	m, err := proto.DecodeManifest(b)
	return m, proto.ManifestCID(b), err
}
