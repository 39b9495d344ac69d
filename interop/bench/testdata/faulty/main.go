// Command faulty is a daemon with a fault, for tests. It is made of the parts of mobd, and
// takes some of its flags and --fault:
//
//	lossy     rejects half of all requests
//	polluter  sends corrupt blocks only, and signs them in coded transfers
//	claimer   claims every piece, fetches none and sends none
package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/mob/sim"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/datadir"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/peer/swarm"
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
	flag.StringVar(&fault, "fault", "", "lossy, polluter or claimer")
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
	var faults swarm.Faults
	switch fault {
	case "lossy":
		faults = peertest.Lossy(new(atomic.Int64))
	case "polluter":
		p := peertest.NewPolluter()
		p.On.Store(true)
		faults = p.Faults(key)
	case "claimer":
		faults.Strategy = sim.ClaimOnly
	default:
		return fmt.Errorf("unknown --fault %q: must be lossy, polluter or claimer", fault)
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
	socket, err := control.Listen(cfg.Data, "")
	if err != nil {
		return errors.Join(err, node.Close())
	}
	fmt.Printf("ready %v/p2p/%v\n", cfg.Listen[0], node.Host().ID())
	return control.NewServer(control.Config{Node: node, Data: cfg.Data}).Serve(socket)
}

func finder(h host.Host, addrs []ma.Multiaddr) peer.Finder {
	infos, err := libpeer.AddrInfosFromP2pAddrs(addrs...)
	if err != nil {
		panic(err) // parsed before
	}
	return tracker.NewClient(h, infos, tracker.ClientConfig{})
}
