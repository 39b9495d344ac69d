package feed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	libhost "github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/tracker"
)

// worker is the environment variable with the configuration of a node in a separate process.
const worker = "MOB_FEED_WORKER"

func TestMain(m *testing.M) {
	text := os.Getenv(worker)
	if text == "" {
		os.Exit(m.Run())
	}
	var cfg workerConfig
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = cfg.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// workerConfig is the configuration of a node. The one without a link publishes a feed, and is the tracker.
type workerConfig struct{ Data, Cluster, IP, Tracker, Link string }

// event is a line on a worker's standard output. The first line of the publisher has its address and the link. After that a line has
// the time at which a version was published or complete.
type event struct {
	Addr, Link string
	Seq        uint64
	At         time.Time
	Members    int
}

func (w *workerConfig) run() error {
	var server *tracker.Server
	cfg := peer.Config{Data: w.Data, Cluster: w.Cluster, Listen: []ma.Multiaddr{ma.StringCast("/ip4/" + w.IP + "/tcp/4001")}}
	cfg.Trackers = []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/1/p2p/12D3KooWDqsZQiT2g8WmjoumgasA2cXosrVd7SEFWGPWJFoneGbx")}
	cfg.Finder = func(libhost.Host, []ma.Multiaddr) peer.Finder { return server.Local() }
	if w.Tracker != "" {
		cfg.Trackers = []ma.Multiaddr{ma.StringCast(w.Tracker)}
		cfg.Finder = func(h libhost.Host, addrs []ma.Multiaddr) peer.Finder {
			infos, _ := libpeer.AddrInfosFromP2pAddrs(addrs...)
			return tracker.NewClient(h, infos, tracker.ClientConfig{})
		}
	}
	n, err := peer.Start(cfg)
	if err != nil {
		return err
	}
	defer n.Close()
	if w.Tracker == "" {
		server = tracker.New(n.Host(), tracker.Config{})
		defer server.Close()
	}
	out := json.NewEncoder(os.Stdout)
	complete := func(_ context.Context, _ string, v feed.Version) error {
		return out.Encode(event{Seq: v.Seq, At: time.Now()})
	}
	feeds, err := feed.Open(n, w.Data, complete, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer feeds.Close()
	if w.Link == "" {
		l := &feed.Link{}
		if err := feeds.New("grid", l); err != nil {
			return err
		}
		err = out.Encode(event{Addr: n.Addrs()[0].String(), Link: l.String()})
	} else {
		err = feeds.Follow(feed.Settings{Link: w.Link, Dir: filepath.Join(w.Data, "..", filepath.Base(w.Data)+"-versions"), Keep: 1, Exec: "true"})
	}
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		e := event{Members: len(feeds.All()[0].Followers)}
		if path := lines.Text(); path != "" {
			v, err := n.Seed(context.Background(), path, peer.SeedOptions{})
			if err == nil {
				err = v.Wait(context.Background())
			}
			if err != nil {
				return err
			}
			e.At = time.Now()
			h, err := feeds.Post(context.Background(), "grid", v, feed.PublishOptions{})
			if err != nil {
				return err
			}
			e.Seq = h.Seq
		}
		if err := out.Encode(e); err != nil {
			return err
		}
	}
	return nil
}
