package feed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/feed"
	"github.com/mobgrid/mob/interop/workers"
	"github.com/mobgrid/mob/peer"
)

// worker is the environment variable with the configuration of a node in a separate process.
const worker = "MOB_FEED_WORKER"

func TestMain(m *testing.M) { workers.Main(worker, new(workerConfig), m) }

// workerConfig is the configuration of a node. The one without a link publishes a feed, and is the tracker.
type workerConfig struct {
	workers.Node
	Link string
}

// event is a line on a worker's standard output. The first line of the publisher has its address and the link. After that a line has
// the time at which a version was published or complete.
type event struct {
	Addr, Link string
	Seq        uint64
	At         time.Time
	Members    int
}

func (w *workerConfig) Run() error {
	n, stop, err := w.Start()
	if err != nil {
		return err
	}
	defer stop()
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
