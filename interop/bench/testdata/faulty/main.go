// Command faulty is a daemon with a fault, for tests. It is made of the parts of mobd, and
// takes some of its flags and --fault:
//
//	lossy     refuses half of all requests
//	polluter  sends false blocks only, and signs those of coded transfers
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"

	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/swarm"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/tracker"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the daemon until the process ends.
func run() error {
	var fault, level, listen, trackers string
	cfg := peer.Config{Finder: finder, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flag.StringVar(&fault, "fault", "", "lossy or polluter")
	flag.StringVar(&cfg.Cluster, "cluster", "", "as mobd's")
	flag.StringVar(&cfg.Data, "data", "", "as mobd's")
	flag.StringVar(&listen, "listen", "", "as mobd's")
	flag.StringVar(&trackers, "tracker", "", "as mobd's")
	flag.StringVar(&level, "log-level", "", "ignored")
	flag.Parse()
	var err error
	cfg.Listen, err = parseAddr(listen)
	if err != nil {
		return err
	}
	cfg.Trackers, err = parseAddr(trackers)
	if err != nil {
		return err
	}
	key, err := datadir.LoadKey(cfg.Data)
	if err != nil {
		return err
	}
	raw, err := key.Raw()
	if err != nil {
		return err
	}
	var faults swarm.Faults
	switch fault {
	case "lossy":
		faults.Codec = func(_ *proto.Link, c payload.Codec) payload.Codec { return lossy{c} }
	case "polluter":
		faults.Codec = func(link *proto.Link, c payload.Codec) payload.Codec { return polluter{c, link, raw} }
	default:
		return fmt.Errorf("--fault %q is neither lossy nor polluter", fault)
	}
	return serve(cfg, faults)
}

// parseAddr parses the single value of a flag.
func parseAddr(text string) ([]ma.Multiaddr, error) {
	a, err := ma.NewMultiaddr(text)
	return []ma.Multiaddr{a}, err
}

func serve(cfg peer.Config, faults swarm.Faults) error {
	node, err := peer.Start(cfg, peer.WithFaults(faults))
	if err != nil {
		return err
	}
	socket, err := control.Listen(cfg.Data)
	if err != nil {
		return errors.Join(err, node.Close())
	}
	fmt.Printf("ready %v/p2p/%v\n", cfg.Listen[0], node.Host().ID())
	return control.NewServer(control.Config{Node: node, Data: cfg.Data, Trackers: cfg.Trackers}).Serve(socket)
}

func finder(h host.Host, addrs []ma.Multiaddr) peer.Finder {
	infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil {
		panic(err) // parsed before
	}
	return tracker.NewClient(h, infos, tracker.ClientConfig{})
}

// lossy refuses half of all requests at random, so that a second request may succeed.
type lossy struct{ payload.Codec }

// Encode implements [payload.Codec].
func (x lossy) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	if rand.N(2) == 0 {
		return nil, payload.ErrAbsent
	}
	return x.Codec.Encode(to, sp)
}

// polluter sends false blocks only.
type polluter struct {
	payload.Codec
	link *proto.Link
	key  ed25519.PrivateKey
}

// Encode implements [payload.Codec].
func (x polluter) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	buf, err := x.Codec.Encode(to, sp)
	if err != nil {
		return nil, err
	}
	buf.B[len(buf.B)-1] ^= 1
	if x.link.Coded == 0 || x.link.Strategy.Gossip() {
		return buf, nil
	}
	// The polluter claims that it made the block, so that the signature is valid.
	data := buf.B[proto.CodedHeader:]
	statement := proto.CodedStatement(x.link.Manifest.Bytes(), x.link.Coded, sp.Piece, sha256.Sum256(data))
	var o proto.Origin
	copy(o.Encoder[:], x.key.Public().(ed25519.PublicKey))
	copy(o.Signature[:], ed25519.Sign(x.key, statement))
	proto.AppendCodedHeader(buf.B[:0], sp.Piece, &o, len(data))
	return buf, nil
}
